package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Measure counts the entries in a cache's folder and their bytes, none where there is no
// folder. It asks for each file by its name in the open folder, and so takes half the
// time of Status, which also puts them in order: ten thousand are no rarity.
func Measure(dir string) (entries int, bytes int64, err error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("cache: %w", err)
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return 0, 0, fmt.Errorf("cache: %w", err)
	}
	at := int(f.Fd())
	for _, name := range names {
		if !strings.HasSuffix(name, suffix) {
			continue
		}
		var st unix.Stat_t
		if unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
			continue // gone meanwhile, or not an entry
		}
		entries++
		bytes += st.Size
	}
	return entries, bytes, nil
}
