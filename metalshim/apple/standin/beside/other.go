//go:build !linux || (!amd64 && !arm64)

package beside

import (
	"context"
	"errors"

	"github.com/introgen/introgen/metalshim"
)

// errSystem is the error of a system without the library.
var errSystem = errors.New("the device beside a program is for linux/amd64 and linux/arm64")

// Serve fails here.
func Serve(context.Context, int, metalshim.Device, Facts) error { return errSystem }

// GiveBackStderr does nothing here.
func GiveBackStderr() {}

// Parent does nothing here.
func Parent(int) {}
