package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/introgen/introgen/system/files"
)

// The SHA-256 of model files is remembered, so that a file is read for it once and
// not in every run.
const (
	// memoryFile is in the state folder: a JSON object of what is remembered, by
	// path.
	memoryFile = "digests.json"
	// mostRemembered is how many files that are; beyond that the memory begins anew.
	mostRemembered = 1000
	// largestMemory is how large the memory's file may be, in bytes.
	largestMemory = 1 << 20
)

// remembered is a digest, and what the file looked like when it was computed: a file
// that was changed or replaced since has another size, time or inode.
type remembered struct {
	Size   int64  `json:"size"`
	Time   int64  `json:"mtime_ns"`
	Inode  uint64 `json:"inode"`
	SHA256 string `json:"sha256"`
}

// appearance returns the absolute path of the file and what it looks like.
func appearance(path string) (string, remembered, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", remembered{}, err
	}
	is, err := os.Stat(abs)
	if err != nil {
		return "", remembered{}, err
	}
	e := remembered{Size: is.Size(), Time: is.ModTime().UnixNano()}
	if s, ok := is.Sys().(*syscall.Stat_t); ok {
		e.Inode = s.Ino
	}
	return abs, e, nil
}

// readMemory returns what is remembered. A damaged memory is one of nothing.
func readMemory(state string) map[string]remembered {
	memory := map[string]remembered{}
	b, err := files.ReadAtMost(filepath.Join(state, memoryFile), largestMemory)
	if err != nil || json.Unmarshal(b, &memory) != nil || memory == nil {
		return map[string]remembered{}
	}
	return memory
}

// RememberedDigest returns the digest of the model file at path that is remembered
// in the state folder, or "". It does not read the file.
func RememberedDigest(state, path string) string {
	abs, now, err := appearance(path)
	if err != nil {
		return ""
	}
	e := readMemory(state)[abs]
	if !files.IsSHA256(e.SHA256) {
		return ""
	}
	now.SHA256 = e.SHA256
	if now != e {
		return ""
	}
	return e.SHA256
}

// ComputeDigest reads the whole file and remembers its digest in the state folder.
// The digest is returned also where it could not be remembered. A file that
// changes meanwhile is an error.
func ComputeDigest(ctx context.Context, state, path string) (string, error) {
	abs, before, err := appearance(path)
	if err != nil {
		return "", err
	}
	digest, err := files.SHA256(ctx, abs)
	if err != nil {
		return "", err
	}
	if _, after, err := appearance(path); err != nil || after != before {
		return "", errors.Join(fmt.Errorf("%s changed while its digest was computed", path), err)
	}
	before.SHA256 = digest
	return digest, remember(state, abs, before)
}

func remember(state, path string, e remembered) error {
	memory := readMemory(state)
	if len(memory) >= mostRemembered {
		memory = map[string]remembered{}
	}
	memory[path] = e
	b, err := json.MarshalIndent(memory, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	return files.Write(filepath.Join(state, memoryFile), append(b, '\n'), files.Options{})
}
