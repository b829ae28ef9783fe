//go:build !linux || !(amd64 || arm64)

package resident

import (
	"context"
	"os"

	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/metalshim/soft/native"
)

// Source is empty: there is no preload for this system.
func Source() string { return "" }

func loads(string) error { return ErrSystem }

func memory(content []byte) (*os.File, error) { return native.Memory(content) }

type root struct{}

func newRoot([]string, []byte) *root { return &root{} }

func (*root) ready(context.Context) error { return ErrSystem }

func (*root) run(context.Context, Command) (clang.Output, error) { return clang.Output{}, ErrSystem }

func (*root) close(error) {}
