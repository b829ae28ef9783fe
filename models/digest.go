package models

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/introgen/introgen/models/atomicfile"
)

// SHA256 returns the digest of the file at path, in lower-case hex.
func SHA256(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// IsSHA256 says whether s is written as SHA256 writes digests.
func IsSHA256(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// digestSuffix ends the name of the file that keeps a digest, beside the file
// that has it.
const digestSuffix = ".sha256"

// WriteDigest keeps the digest of the file at path beside it, in the format of
// sha256sum(1), so that `sha256sum -c` can check it too. It is for files whose
// digest the project does not know beforehand.
func WriteDigest(path, digest string) error {
	f, err := atomicfile.Create(path + digestSuffix)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := fmt.Fprintf(f, "%s  %s\n", digest, filepath.Base(path)); err != nil {
		return fmt.Errorf("keep the digest of %s: %w", path, err)
	}
	return f.Commit()
}

// ReadDigest returns what WriteDigest kept, or "" where nothing was kept.
func ReadDigest(path string) (string, error) {
	b, err := os.ReadFile(path + digestSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("digest of %s: %w", path, err)
	}
	digest, _, _ := strings.Cut(string(b), " ")
	if !IsSHA256(digest) {
		return "", fmt.Errorf("%s%s does not begin with a SHA-256 in lower-case hex", path, digestSuffix)
	}
	return digest, nil
}
