package anatomy

import (
	"testing"

	"github.com/introgen/introgen/metalshim"
)

// What is read here is what package metalshim writes; the other names are
// package results's, which has a test of its own.
func TestNames(t *testing.T) {
	if spanQueued != metalshim.SpanQueued {
		t.Errorf("%q is read, %q is written", spanQueued, metalshim.SpanQueued)
	}
}
