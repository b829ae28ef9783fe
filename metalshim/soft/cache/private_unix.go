//go:build unix

package cache

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/introgen/introgen/system/files"
)

// private says why dir is not the user's alone. Folders above it may belong to
// others, but nobody else may be able to put another folder in its place.
func private(dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return fmt.Errorf("cache folder: %w", err)
		}
		if at == dir {
			if err := files.Private(info); err != nil {
				return fmt.Errorf("cache folder %s: %w; make it private (chmod 700) or name another in %s: the code in it is run", dir, err, Env)
			}
		} else if info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 {
			return fmt.Errorf("cache folder %s: anybody may write to %s; name another in %s: the code in it is run", dir, at, Env)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}
