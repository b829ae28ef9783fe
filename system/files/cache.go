package files

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Cache returns the folder that holds everything the project fetches or builds
// outside its own tree: introgen below $XDG_CACHE_HOME or ~/.cache, and below
// the user's cache folder on macOS. The folder need not exist.
func Cache() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder: %w; set XDG_CACHE_HOME or HOME to an absolute path", err)
	}
	return filepath.Join(base, "introgen"), nil
}

// Folder returns the folder of one kind of what is kept there: the one that the
// environment variable names where it is set, else that name below Cache. It
// need not exist.
func Folder(variable, name string) (string, error) {
	if dir := os.Getenv(variable); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", fmt.Errorf("%s=%q: %w", variable, dir, err)
		}
		return abs, nil
	}
	cache, err := Cache()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, name), nil
}

// Size adds up the regular files below dir. The first folder that could not be read
// is the error; what could be read counts all the same.
func Size(dir string) (n int64, failed error) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			failed = cmp.Or(failed, err)
		} else if info, err := e.Info(); err == nil && e.Type().IsRegular() {
			n += info.Size()
		}
		return nil
	})
	return n, failed
}
