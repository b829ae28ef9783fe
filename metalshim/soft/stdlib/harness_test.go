package stdlib_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"sync"
	"testing"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/soft"
	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/metalshim/soft/native"
)

// One cache, and one device for each form of compiled kernels and each processor,
// serve all tests of this process.
var shared struct {
	once    sync.Once
	dir     string
	devices map[string]*soft.Device
	err     error
}

// form is the form that is tested: INTROGEN_SOFT's, else the vectorised one.
var form = cmp.Or(os.Getenv(soft.EnvForm), "lanes")

// inBothForms runs f for the vectorised form and for the masked one.
func inBothForms(t *testing.T, f func(t *testing.T)) {
	before := form
	defer func() { form = before }()
	for _, form = range []string{"lanes", "scalar"} {
		t.Run(form, f)
	}
}

// processor is the one that code is generated for.
var processor = os.Getenv(soft.EnvProcessor)

// onEveryProcessor runs f as each processor would that this machine can stand
// for, and as this one.
func onEveryProcessor(t *testing.T, f func(t *testing.T)) {
	before := processor
	defer func() { processor = before }()
	for _, processor = range append(soft.Processors(), before) {
		t.Run(cmp.Or(processor, "this"), f)
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, d := range shared.devices {
		d.Close()
	}
	if shared.dir != "" {
		os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

func device(t testing.TB) *soft.Device {
	t.Helper()
	shared.once.Do(func() {
		shared.devices = map[string]*soft.Device{}
		shared.dir, shared.err = os.MkdirTemp("", "introgen-test-")
	})
	if d := shared.devices[form+processor]; d != nil {
		return d
	}
	var d *soft.Device
	if shared.err == nil {
		d, shared.err = soft.Open(context.Background(), soft.Options{CacheDir: shared.dir, Form: form, Processor: processor})
	}
	var absent *clang.Error
	if errors.As(shared.err, &absent) || errors.Is(shared.err, native.ErrUnsupported) {
		t.Skipf("SKIP: needs clang 19 on linux: %v", shared.err)
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	shared.devices[form+processor] = d
	return d
}

const prologue = "#include <metal_stdlib>\n#include <metal_simdgroup_matrix>\nusing namespace metal;\n"

func library(t testing.TB, text string) metalshim.Library {
	t.Helper()
	l, err := device(t).NewLibrary(context.Background(), metalshim.Source{Name: t.Name(), Text: prologue + text,
		CompileOptions: metalshim.CompileOptions{MathMode: metalshim.MathFast}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Release)
	return l
}

// call runs kernel over threads threads in groups of perGroup. Arguments are
// []byte, which become buffers and are read back, in order of their index.
func call(t testing.TB, l metalshim.Library, kernel string, threads, perGroup int, args ...[]byte) {
	t.Helper()
	d := device(t)
	p, err := l.NewPipeline(context.Background(), kernel, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	q, err := d.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	defer q.Release()
	cb, err := q.NewCommandBuffer()
	if err != nil {
		t.Fatal(err)
	}
	defer cb.Release()
	e, err := cb.NewEncoder(metalshim.Serial)
	if err != nil {
		t.Fatal(err)
	}
	e.SetPipeline(p)
	var buffers []metalshim.Buffer
	for i, a := range args {
		b, err := d.NewBufferWithBytes(a)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Release()
		buffers = append(buffers, b)
		e.SetBuffer(i, b, 0)
	}
	if err := e.DispatchThreads(metalshim.Size{X: threads, Y: 1, Z: 1}, metalshim.Size{X: perGroup, Y: 1, Z: 1}); err != nil {
		t.Fatal(err)
	}
	if err := e.EndEncoding(); err != nil {
		t.Fatal(err)
	}
	if err := cb.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := cb.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	for i, b := range buffers {
		copy(args[i], b.Contents())
	}
}

// pack lays numbers out in memory as the kernel reads them.
func pack[T any](values []T) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, values)
	if err != nil {
		panic(err)
	}
	return b
}

// unpack is the reverse of pack.
func unpack[T any](b []byte) []T {
	var zero T
	out := make([]T, len(b)/binary.Size(zero))
	if _, err := binary.Decode(b, binary.LittleEndian, out); err != nil {
		panic(err)
	}
	return out
}

// format is a binary floating-point format: half is {5, 10}, bfloat {8, 7}.
type format struct{ exponent, mantissa int }

var (
	half   = format{5, 10}
	bfloat = format{8, 7}
	single = format{8, 23}
)

// round is v rounded to the format, to nearest, ties to even, by definition.
// Results below the smallest normal number keep the format's last bit.
func (f format) round(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	ulp := f.ulp(v)
	r := math.RoundToEven(v/ulp) * ulp
	bias := 1<<(f.exponent-1) - 1
	if math.Abs(r) >= math.Ldexp(1, bias+1) {
		return math.Inf(int(math.Copysign(1, v)))
	}
	return r
}

// ulp is the distance of the format's numbers around v.
func (f format) ulp(v float64) float64 {
	bias := 1<<(f.exponent-1) - 1
	_, e := math.Frexp(v)
	return math.Ldexp(1, max(e-1, 1-bias)-f.mantissa)
}

// bits is the 16-bit pattern of v, which must be of the format.
func (f format) bits(v float64) uint16 {
	bias := 1<<(f.exponent-1) - 1
	var sign uint16
	if math.Signbit(v) {
		sign = 1 << 15
	}
	a := math.Abs(v)
	top := uint16(1<<f.exponent - 1)
	switch {
	case math.IsNaN(v):
		return sign | top<<f.mantissa | 1<<(f.mantissa-1)
	case math.IsInf(v, 0):
		return sign | top<<f.mantissa
	case a < math.Ldexp(1, 1-bias):
		return sign | uint16(a/math.Ldexp(1, 1-bias-f.mantissa))
	}
	m, e := math.Frexp(a)
	return sign | uint16(e-1+bias)<<f.mantissa | uint16((2*m-1)*math.Ldexp(1, f.mantissa))
}

// value is the number that a 16-bit pattern stands for.
func (f format) value(b uint16) float64 {
	bias := 1<<(f.exponent-1) - 1
	e := int(b>>f.mantissa) & (1<<f.exponent - 1)
	m := float64(b & (1<<f.mantissa - 1))
	var v float64
	switch {
	case e == 1<<f.exponent-1 && m != 0:
		return math.NaN()
	case e == 1<<f.exponent-1:
		v = math.Inf(1)
	case e == 0:
		v = math.Ldexp(m, 1-bias-f.mantissa)
	default:
		v = math.Ldexp(1+math.Ldexp(m, -f.mantissa), e-bias)
	}
	if b>>15 == 1 {
		return -v
	}
	return v
}

// off is by how many units in the last place got misses want. Where denormals
// are flushed, 0 is right for them.
func (f format) off(got, want float64) float64 {
	switch {
	case math.IsNaN(want):
		if math.IsNaN(got) {
			return 0
		}
		return math.Inf(1)
	case got == want || math.IsInf(f.round(want), 0) && got == f.round(want):
		return 0
	case math.IsInf(got, 0) || math.IsInf(want, 0) || math.IsNaN(got):
		return math.Inf(1)
	case f.exponent == 8 && math.Abs(want) < 0x1p-126 && math.Abs(got) < 0x1p-126:
		return 0
	}
	return math.Abs(got-want) / f.ulp(want)
}

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		f    format
		bits uint16
		v    float64
	}{
		{half, 0x3c00, 1}, {half, 0x7bff, 65504}, {half, 0x0001, 0x1p-24}, {half, 0x8400, -0x1p-14}, {half, 0xfc00, math.Inf(-1)},
		{bfloat, 0x3f80, 1}, {bfloat, 0x4049, 3.140625}, {bfloat, 0x0080, 0x1p-126},
	} {
		if c.f.value(c.bits) != c.v || c.f.bits(c.v) != c.bits {
			t.Errorf("%#x is %v, %v is %#x", c.bits, c.f.value(c.bits), c.v, c.f.bits(c.v))
		}
	}
	for _, c := range []struct {
		f       format
		v, want float64
	}{
		{half, 2049, 2048}, {half, 2051, 2052}, {half, 65519, 65504}, {half, 65520, math.Inf(1)}, {bfloat, 257, 256}, {bfloat, 259, 260},
	} {
		if got := c.f.round(c.v); got != c.want {
			t.Errorf("round(%v) = %v, want %v", c.v, got, c.want)
		}
	}
}
