// Package digests remembers the SHA-256 of model files, so that a file is read
// for it once and not in every run.
package digests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/introgen/introgen/system/files"
)

// name of the file in the state folder: a JSON object of entries by path.
const name = "digests.json"

// most is how many files are remembered; beyond that the memory begins anew.
const most = 1000

// largest is how large the memory's file may be, in bytes.
const largest = 1 << 20

// entry is a digest, and what the file looked like when it was computed: a file
// that was changed or replaced since has another size, time or inode.
type entry struct {
	Size   int64  `json:"size"`
	Time   int64  `json:"mtime_ns"`
	Inode  uint64 `json:"inode"`
	SHA256 string `json:"sha256"`
}

// look returns the absolute path of the file and what it looks like.
func look(path string) (string, entry, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", entry{}, err
	}
	is, err := os.Stat(abs)
	if err != nil {
		return "", entry{}, err
	}
	e := entry{Size: is.Size(), Time: is.ModTime().UnixNano()}
	if s, ok := is.Sys().(*syscall.Stat_t); ok {
		e.Inode = s.Ino
	}
	return abs, e, nil
}

// read returns what is remembered. A damaged memory is one of nothing.
func read(state string) map[string]entry {
	known := map[string]entry{}
	f, err := os.Open(filepath.Join(state, name))
	if err != nil {
		return known
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, largest+1))
	if err != nil || len(b) > largest || json.Unmarshal(b, &known) != nil || known == nil {
		return map[string]entry{}
	}
	return known
}

// Lookup returns the digest of the model file at path that is remembered in the
// state folder, or "". It does not read the file.
func Lookup(state, path string) string {
	abs, now, err := look(path)
	if err != nil {
		return ""
	}
	e := read(state)[abs]
	if !files.IsSHA256(e.SHA256) {
		return ""
	}
	now.SHA256 = e.SHA256
	if now != e {
		return ""
	}
	return e.SHA256
}

// Compute reads the whole file and remembers its digest in the state folder. The
// digest is returned also where it could not be remembered. A file that changes
// meanwhile is an error.
func Compute(ctx context.Context, state, path string) (string, error) {
	abs, before, err := look(path)
	if err != nil {
		return "", err
	}
	digest, err := files.SHA256(ctx, abs)
	if err != nil {
		return "", err
	}
	if _, after, err := look(path); err != nil || after != before {
		return "", errors.Join(fmt.Errorf("%s changed while its digest was computed", path), err)
	}
	before.SHA256 = digest
	return digest, remember(state, abs, before)
}

func remember(state, path string, e entry) error {
	known := read(state)
	if len(known) >= most {
		known = map[string]entry{}
	}
	known[path] = e
	b, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	return files.Write(filepath.Join(state, name), append(b, '\n'), files.Options{})
}
