package kernels_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/engine/metal/metaltest"
	"github.com/introgen/introgen/engine/metal/reference"
	"github.com/introgen/introgen/metalshim"
)

// atTheEnd runs c with every buffer placed so that it ends where the memory that
// the software driver gives it does.
func (b *bench) atTheEnd(t *testing.T, c reference.Call, set []int) error {
	t.Helper()
	const page = 64 << 10 // what the driver rounds buffers up to
	p := b.pipeline(t, "Quantized", &c)
	cb, err := b.queue.NewCommandBuffer()
	if err != nil {
		t.Fatal(err)
	}
	defer cb.Release()
	enc, err := cb.NewEncoder(metalshim.Concurrent)
	if err != nil {
		t.Fatal(err)
	}
	enc.SetPipeline(p)
	for _, i := range set {
		enc.SetBytes(i, c.Args[i])
		c.Args[i] = nil
	}
	for i, mem := range c.Args {
		if mem == nil {
			continue
		}
		room := (page - len(mem)%page) % page
		buf, err := b.device.NewBufferWithBytes(append(make([]byte, room), mem...))
		if err != nil {
			t.Fatal(err)
		}
		defer buf.Release()
		enc.SetBuffer(i, buf, room)
	}
	if c.ThreadgroupBytes > 0 {
		enc.SetThreadgroupMemory(0, c.ThreadgroupBytes)
	}
	if err := errors.Join(enc.DispatchThreadgroups(c.Grid, c.Group), enc.EndEncoding(), cb.Commit()); err != nil {
		t.Fatal(err)
	}
	return cb.Wait(context.Background())
}

// rowsOf finds in a kernel's known fault the number that rows must be a multiple
// of; 0 where no number helps.
func rowsOf(t *testing.T, fault string) int {
	_, text, ok := strings.Cut(fault, "multiple of ")
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%q: %v", fault, err)
	}
	return n
}

// TestFaults: candle's kernels leave their buffers where Fault says so and
// nowhere else, and the project's never do.
func TestFaults(t *testing.T) { each(t, testFaults) }

func testFaults(t *testing.T, b *bench, r *rand.Rand) {
	if os.Getenv(metaltest.DriverEnv) != "" {
		t.Skip("SKIP: needs a driver that says what it makes of memory behind a buffer; Metal does not")
	}
	for _, f := range forward.Formats() {
		if f.Float() {
			continue
		}
		k := 96
		if f.Elems > 32 {
			k = 512
		}
		for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 30, 64, 76, 127, 128} {
			mv, mm := mvCall(r, t, f, n, k), mmCall(r, t, f, n, 3, k)
			mv.Args[2], mm.Args[2] = room(n), room(3*n)
			for _, c := range []struct {
				call  reference.Call
				set   []int
				known bool // to leave its buffers
			}{
				{mv, []int{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}, true},
				{mm, []int{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, false},
			} {
				fault := kernels.Fault(c.call.Function)
				if (fault != "") != c.known {
					t.Fatalf("of %s is known %q", c.call.Function, fault)
				}
				multiple := rowsOf(t, fault)
				fits := !b.candle || !c.known || multiple > 0 && n%multiple == 0
				err := b.atTheEnd(t, c.call, c.set)
				if fits != (err == nil) || err != nil && !errors.Is(err, metalshim.ErrPageFault) {
					t.Errorf("%s, %d rows: %v; known is %q", c.call.Function, n, err, fault)
				}
			}
		}
	}
}
