package soft

import (
	"context"
	"runtime"
	"testing"

	"github.com/introgen/introgen/metalshim"
)

// TestForgottenPipelines drops pipelines without releasing them and lets the
// collector take them. Each new pipeline must still be its own code, and not
// that of one whose file's number it has been given.
func TestForgottenPipelines(t *testing.T) {
	d := testDevice(t)
	lib := compile(t, d, "basics", basics)
	x, y := buffer32(t, d, 5), buffer32(t, d, 0)
	for i, double := range []bool{true, false, true, false} {
		p, err := lib.NewPipeline(context.Background(), "scale", []metalshim.Constant{metalshim.BoolConstant(3, double)})
		if err != nil {
			t.Fatal(err)
		}
		err = run(t, d, func(e metalshim.Encoder) error {
			e.SetPipeline(p)
			e.SetBuffer(0, x, 0)
			e.SetBuffer(1, y, 0)
			e.SetBytes(2, []byte{0, 0, 0x40, 0x40}) // 3.0
			return e.DispatchThreads(one(1), one(1))
		})
		if err != nil {
			t.Fatal(err)
		}
		want := float32(15)
		if double {
			want = 30
		}
		if got := floats(y)[0]; got != want {
			t.Fatalf("pipeline %d computes %v, want %v: it is another one's code", i, got, want)
		}
		runtime.GC() // p is garbage now: its finalizers run
		runtime.GC()
	}
}
