package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// memoryFolder is where Linux has files in memory.
const memoryFolder = "/dev/shm"

// folderPrefix begins the names of folders for rings; the number of the process that
// made one follows, and what tells it apart.
const folderPrefix = "introgen-record-"

// ringFolder makes the folder for the rings, in memory where the system has such.
// What introgens that were killed have left there is removed.
func ringFolder() (string, error) {
	folders := []string{os.TempDir()}
	if runtime.GOOS == "linux" {
		folders = []string{memoryFolder, os.TempDir()}
	}
	var failed error
	for _, in := range folders {
		removeLeft(in)
		dir, err := os.MkdirTemp(in, fmt.Sprintf("%s%d-", folderPrefix, os.Getpid())) // for this user alone
		if err == nil {
			return dir, nil
		}
		failed = errors.Join(failed, err)
	}
	return "", fmt.Errorf("no folder for the recorder's events: %w; TMPDIR can name another place", failed)
}

// removeLeft removes the folders of processes that are gone. Those of others stay:
// the system does not let them be removed.
func removeLeft(in string) {
	all, err := filepath.Glob(filepath.Join(in, folderPrefix+"*-*"))
	if err != nil {
		return
	}
	for _, dir := range all {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(dir), folderPrefix+"%d-", &pid); err != nil || pid <= 0 {
			continue
		}
		if gone(pid) {
			_ = os.RemoveAll(dir) // another's, or removed meanwhile
		}
	}
}
