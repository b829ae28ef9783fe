package soft

import (
	"testing"

	"github.com/introgen/introgen/metalshim/shimtest"
)

// Libraries and pipelines can be made by several goroutines at once.
func TestCompilesAtOnce(t *testing.T) {
	d := testDevice(t)
	shimtest.Compiles(t, d, shimtest.Kernel)
	if n := d.Live(); n.Libraries != 0 || n.Pipelines != 0 {
		t.Errorf("left behind: %+v", n)
	}
	if d.CompileThreads() < 1 {
		t.Errorf("%d compile threads", d.CompileThreads())
	}
}
