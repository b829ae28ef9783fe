package kernels_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/engine/metal/metaltest"
	"github.com/introgen/introgen/engine/metal/reference"
	"github.com/introgen/introgen/metalshim"
)

// bench runs calls on a device, with pipelines made once.
type bench struct {
	candle    bool // the kernels are candle's
	device    metalshim.Device
	set       *kernels.Set
	queue     metalshim.Queue
	libraries map[string]metalshim.Library
	pipelines map[string]metalshim.Pipeline
}

func newBench(t testing.TB, device metalshim.Device, set *kernels.Set) *bench {
	t.Helper()
	queue, err := device.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{device: device, set: set, queue: queue, libraries: map[string]metalshim.Library{}, pipelines: map[string]metalshim.Pipeline{}}
	t.Cleanup(func() {
		for _, p := range b.pipelines {
			p.Release()
		}
		for _, l := range b.libraries {
			l.Release()
		}
		queue.Release()
	})
	return b
}

func (b *bench) library(t testing.TB, name string) metalshim.Library {
	t.Helper()
	if l, ok := b.libraries[name]; ok {
		return l
	}
	text, file, err := b.set.Library(name)
	if err != nil {
		t.Fatal(err)
	}
	l, err := b.device.NewLibrary(context.Background(), metalshim.Source{
		Name: name, Text: text, File: file,
		CompileOptions: metalshim.CompileOptions{MathMode: metalshim.MathFast, MathFunctions: metalshim.FastFunctions},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.libraries[name] = l
	return l
}

func (b *bench) pipeline(t testing.TB, library string, c *reference.Call) metalshim.Pipeline {
	t.Helper()
	key := fmt.Sprint(library, c.Function, c.Constants)
	if p, ok := b.pipelines[key]; ok {
		return p
	}
	metaltest.Simdgroups(t, b.device, c.Function)
	p, err := b.library(t, library).NewPipeline(context.Background(), c.Function, c.Constants)
	if err != nil {
		t.Fatal(err)
	}
	b.pipelines[key] = p
	return p
}

// run executes c on the device. Arguments in outs are buffers whose content
// afterwards is written back into c; of the others, those in set are bytes.
func (b *bench) run(t testing.TB, library string, c *reference.Call, set, outs []int) {
	t.Helper()
	p := b.pipeline(t, library, c)
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
	isBytes := map[int]bool{}
	for _, i := range set {
		isBytes[i] = true
	}
	bufs := map[int]metalshim.Buffer{}
	for i, mem := range c.Args {
		switch {
		case mem == nil:
		case isBytes[i]:
			enc.SetBytes(i, mem)
		default:
			buf, err := b.device.NewBufferWithBytes(mem)
			if err != nil {
				t.Fatal(err)
			}
			defer buf.Release()
			bufs[i] = buf
			enc.SetBuffer(i, buf, 0)
		}
	}
	if c.ThreadgroupBytes > 0 {
		enc.SetThreadgroupMemory(0, c.ThreadgroupBytes)
	}
	if c.InThreads {
		err = enc.DispatchThreads(c.Grid, c.Group)
	} else {
		err = enc.DispatchThreadgroups(c.Grid, c.Group)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := enc.EndEncoding(); err != nil {
		t.Fatal(err)
	}
	if err := cb.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := cb.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, i := range outs {
		copy(c.Args[i], bufs[i].Contents())
	}
}

// check runs c on the device and in float64 and compares the outputs.
func (b *bench) check(t *testing.T, library string, c reference.Call, set, outs []int) {
	t.Helper()
	want := c
	for _, i := range outs {
		want.Args[i] = append([]byte(nil), c.Args[i]...)
	}
	if err := reference.Run(&want); err != nil {
		t.Fatal(err)
	}
	b.run(t, library, &c, set, outs)
	for _, i := range outs {
		compare(t, c.Function, i, c.Args[i], want.Args[i])
	}
}

// compare accepts an error of 1e-4 of a value, or of the root mean square of
// all, whichever is larger: a sum that nearly cancels has no digits of its own.
func compare(t *testing.T, function string, arg int, got, want []byte) {
	t.Helper()
	n := len(want) / 4
	mean := 0.0
	for i := range n {
		if v := float(want, i); !math.IsInf(v, 0) && !math.IsNaN(v) {
			mean += v * v
		}
	}
	mean = math.Sqrt(mean / float64(max(n, 1)))
	for i := range n {
		g, w := float(got, i), float(want, i)
		if g == w || math.IsNaN(g) && math.IsNaN(w) {
			continue
		}
		if !(math.Abs(g-w) <= 1e-4*max(math.Abs(w), mean)) {
			t.Errorf("%s: argument %d, element %d of %d is %v, the reference has %v", function, arg, i, n, g, w)
			return
		}
	}
}

func float(b []byte, i int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
}

// Arguments.

func u64s(v ...int) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return b
}

func i32s(v ...int) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	return b
}

func f32s(v ...float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// noise is n floats of a normal distribution.
func noise(r *rand.Rand, n int) []byte {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return f32s(v...)
}

// room is memory for n results, filled with what no kernel writes.
func room(n int) []byte {
	v := make([]float32, n)
	for i := range v {
		v[i] = -12345
	}
	return f32s(v...)
}

func size(x, y, z int) metalshim.Size { return metalshim.Size{X: x, Y: y, Z: z} }
