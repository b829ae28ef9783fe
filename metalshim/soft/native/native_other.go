//go:build !(linux && (amd64 || arm64))

package native

import (
	"os"
	"time"
)

// Memory says that there is no runtime to need it.
func Memory([]byte) (*os.File, error) { return nil, ErrUnsupported }

// Runtime does not exist on this system.
type Runtime struct{}

// Load says so.
func Load([]byte) (*Runtime, error) { return nil, ErrUnsupported }

// Pool does not exist on this system.
type Pool struct{}

// NewPool says so.
func (*Runtime) NewPool(int) (*Pool, error) { return nil, ErrUnsupported }

// Close does nothing.
func (*Pool) Close() {}

// Run says that there is no runtime.
func (*Pool) Run([]Command, []int64, Limits) (Outcome, error) {
	return Outcome{}, ErrUnsupported
}

// Stop does nothing.
func (*Pool) Stop() {}

// Running says that nothing runs.
func (*Pool) Running() (command int, ran time.Duration, ok bool) { return 0, 0, false }

// LoadKernel says that there is no runtime.
func LoadKernel([]byte) (*Kernel, error) { return nil, ErrUnsupported }

// Unload does nothing.
func (*Kernel) Unload() {}
