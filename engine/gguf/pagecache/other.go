//go:build !linux && !darwin

package pagecache

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

func resident(*os.File, int64) (float64, error) {
	return 0, fmt.Errorf("%s cannot tell what is resident: %w", runtime.GOOS, errors.ErrUnsupported)
}

func evict(*os.File, int64) error {
	return fmt.Errorf("%s cannot drop a file's pages: %w", runtime.GOOS, errors.ErrUnsupported)
}
