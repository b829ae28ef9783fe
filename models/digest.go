package models

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/introgen/introgen/system/files"
)

// digestSuffix ends the name of the file that keeps a digest, beside the file
// that has it.
const digestSuffix = ".sha256"

// WriteDigest keeps the digest of the file at path beside it, in the format of
// sha256sum(1), so that `sha256sum -c` can check it too. It is for files whose
// digest the project does not know beforehand.
func WriteDigest(path, digest string) error {
	return files.Write(path+digestSuffix, fmt.Appendf(nil, "%s  %s\n", digest, filepath.Base(path)), files.Options{})
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
	if !files.IsSHA256(digest) {
		return "", fmt.Errorf("%s%s does not begin with a SHA-256 in lower-case hex", path, digestSuffix)
	}
	return digest, nil
}
