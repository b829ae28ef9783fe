package fetch

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/models"
)

// room fails where the disk of dir has less than need bytes left: better now
// than after minutes of downloading. A file system that does not tell passes.
func room(dir string, need int64) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return nil
	}
	free := st.Bavail * uint64(st.Bsize) // Bsize's type differs between systems
	if free >= uint64(need) {
		return nil
	}
	return fmt.Errorf("disk full: set-up needs %s in %s, where %s are free; %s moves the folder",
		figures.Size(need), dir, figures.Size(int64(free)), models.DirEnv)
}
