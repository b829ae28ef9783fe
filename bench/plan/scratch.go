package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const scratchPrefix = "introgen-plan-"

// newScratch makes a folder below parent for the children's recordings and
// caches, and removes those of programs that are no more: one that was killed
// could not do so itself. The folder's name has the program's number in it.
func newScratch(parent string) (string, error) {
	sweepScratch(parent)
	return os.MkdirTemp(parent, fmt.Sprintf("%s%d-", scratchPrefix, os.Getpid()))
}

// sweepScratch leaves what it cannot remove: it is somebody else's.
func sweepScratch(parent string) {
	folders, err := filepath.Glob(filepath.Join(parent, scratchPrefix+"*"))
	if err != nil {
		return
	}
	for _, folder := range folders {
		number, _, ok := strings.Cut(strings.TrimPrefix(filepath.Base(folder), scratchPrefix), "-")
		if !ok {
			continue
		}
		if pid, err := strconv.Atoi(number); err == nil && pid > 0 && !running(pid) {
			os.RemoveAll(folder)
		}
	}
}
