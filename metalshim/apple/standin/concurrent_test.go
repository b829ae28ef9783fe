//go:build linux && (amd64 || arm64)

package standin_test

import (
	"testing"

	"github.com/introgen/introgen/metalshim/apple"
	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/metalshim/shimtest"
	"github.com/introgen/introgen/metalshim/soft"
)

// Libraries and pipelines can be made by several goroutines at once.
func TestCompilesAtOnce(t *testing.T) {
	dev := driven(t, opened(t, soft.Options{}), standin.Options{}, apple.Options{})
	shimtest.Compiles(t, dev, shimtest.Kernel)
}
