//go:build !linux || (!amd64 && !arm64)

package standin

import (
	"context"

	"github.com/introgen/introgen/metalshim"
)

// Build fails with ErrSystem here.
func Build(context.Context) (string, error) { return "", ErrSystem }

// LibraryName is the SONAME of the library of programs.
const LibraryName = "libintrogen-metal.so"

// BuildLibrary fails with ErrSystem here.
func BuildLibrary(context.Context) (string, error) { return "", ErrSystem }

// Server does not exist here.
type Server struct{}

// Serve fails with ErrSystem here.
func Serve(string, metalshim.Device, Options) (*Server, error) { return nil, ErrSystem }

// Leaks is nil here.
func (*Server) Leaks() *LeakError { return nil }

// Calls is empty here.
func (*Server) Calls() map[string]int64 { return nil }

// Close does nothing here.
func (*Server) Close() error { return nil }
