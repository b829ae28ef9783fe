package anatomy

import (
	"testing"

	"github.com/introgen/introgen/metalshim"
)

// What is read here is what package metalshim writes.
func TestNames(t *testing.T) {
	for got, want := range map[string]string{
		spanLibrary: metalshim.SpanLibrary, spanPipeline: metalshim.SpanPipeline, spanEncode: metalshim.SpanEncode,
		spanCommit: metalshim.SpanCommit, spanWait: metalshim.SpanWait, spanGPU: metalshim.SpanGPU, spanQueued: metalshim.SpanQueued,
		countDispatch: metalshim.CountDispatches, countEncoders: metalshim.CountEncoders, countBuffers: metalshim.CountCommandBuffers,
	} {
		if got != want {
			t.Errorf("%q is read, %q is written", got, want)
		}
	}
}
