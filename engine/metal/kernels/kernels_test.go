package kernels_test

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/engine/metal/metaltest"
	"github.com/introgen/introgen/engine/metal/reference"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/msl"
)

// each runs a test on the project's kernels and, where they are found, on
// candle's.
func each(t *testing.T, test func(t *testing.T, b *bench, r *rand.Rand)) {
	for name, folder := range map[string]func(testing.TB) string{
		"own":    func(testing.TB) string { return kernels.Own },
		"candle": metaltest.Candle,
	} {
		t.Run(name, func(t *testing.T) {
			set, err := kernels.Open(folder(t))
			if err != nil {
				t.Fatal(err)
			}
			b := newBench(t, metaltest.Device(t), set)
			b.candle = name == "candle"
			test(t, b, rand.New(rand.NewPCG(1, 2)))
		})
	}
}

// TestCandleCompiles compiles all of candle's libraries, those too that no
// forward pass needs.
func TestCandleCompiles(t *testing.T) {
	each(t, func(t *testing.T, b *bench, _ *rand.Rand) {
		names := append([]string{kernels.FloatLibrary}, kernels.Libraries...)
		if b.candle {
			names = append([]string{"Conv", "Fill", "MlxSort", "Random", "Sort"}, names...)
		}
		for _, l := range names {
			if n := len(b.library(t, l).FunctionNames()); n == 0 {
				t.Errorf("library %s has no functions", l)
			}
		}
	})
}

// TestDeclarations holds what is read without a compiler against the driver,
// which lets clang preprocess the text.
func TestDeclarations(t *testing.T) {
	each(t, func(t *testing.T, b *bench, _ *rand.Rand) {
		for _, f := range b.set.Files() {
			l, err := msl.Read(f.Name, f.Text)
			if err != nil {
				t.Error(err)
				continue
			}
			var names []string
			for _, k := range l.Kernels {
				names = append(names, k.Name)
			}
			want := b.library(t, f.Library).FunctionNames()
			if os.Getenv(metaltest.DriverEnv) != "" { // Metal lists them in an order of its own
				slices.Sort(names)
				slices.Sort(want)
			}
			if !slices.Equal(names, want) {
				t.Errorf("%s: %d kernels, the driver finds %d:\n%v\n%v", f.Name, len(names), len(want), names, want)
			}
		}
	})
}

// sizes are edges of vectors, simdgroups and threadgroups, and random ones.
func sizes(r *rand.Rand, most int) []int {
	s := []int{1, 2, 3, 31, 32, 33, 63, 64, 65, 1000, 1023, 1024, 1025, 2047}
	for range 4 {
		s = append(s, 1+r.IntN(most))
	}
	return s
}

// apply sets the sizes that an extent gives on a device of 1024 threads.
func apply(c *reference.Call, e forward.Extent) {
	c.Grid, c.Group, c.InThreads = e.Sizes(1024)
}

func TestElementwise(t *testing.T) { each(t, testElementwise) }

func testElementwise(t *testing.T, b *bench, r *rand.Rand) {
	for _, n := range sizes(r, 5000) {
		for _, f := range []struct{ library, function string }{{"Unary", "cos_f32"}, {"Unary", "sin_f32"}, {"Unary", "silu_f32"}, {"Unary", "gelu_f32"}} {
			c := reference.Call{Function: f.function}
			c.Args[0], c.Args[1], c.Args[2] = u64s(n), noise(r, n), room(n+3)
			if f.function == "cos_f32" || f.function == "sin_f32" {
				angles := make([]float32, n)
				for i := range angles {
					angles[i] = 4095 * r.Float32()
				}
				c.Args[1] = f32s(angles...)
			}
			apply(&c, forward.Pairs(n))
			b.check(t, f.library, c, []int{0}, []int{2})
		}
		for _, function := range []string{"badd_f32", "bmul_f32"} {
			c := reference.Call{Function: function}
			c.Args[0], c.Args[1], c.Args[2], c.Args[3] = u64s(n), noise(r, n), noise(r, n), room(n+3)
			apply(&c, forward.Pairs(n))
			b.check(t, "Binary", c, []int{0}, []int{3})
		}
		c := reference.Call{Function: "affine_f32"}
		c.Args[0], c.Args[1], c.Args[2] = u64s(n), f32s(float32(r.NormFloat64())), f32s(float32(r.NormFloat64()))
		c.Args[3], c.Args[4] = noise(r, n), room(n+3)
		apply(&c, forward.Pairs(n))
		b.check(t, "Affine", c, []int{0, 1, 2}, []int{4})

		c = reference.Call{Function: "cast_u32_f32"}
		whole := make([]int, n)
		for i := range whole {
			whole[i] = r.IntN(1 << 24)
		}
		c.Args[0], c.Args[1], c.Args[2] = u64s(n), i32s(whole...), room(n+3)
		apply(&c, forward.Pairs(n))
		b.check(t, "Cast", c, []int{0}, []int{2})
	}
}

func TestActivationExtremes(t *testing.T) { each(t, testActivationExtremes) }

func testActivationExtremes(t *testing.T, b *bench, r *rand.Rand) {
	for _, function := range []string{"silu_f32", "gelu_f32"} {
		c := reference.Call{Function: function}
		c.Args[0], c.Args[1], c.Args[2] = u64s(8), f32s(-100, -30, -1e-3, 0, 4.9, 5.1, 30, 100), room(8)
		apply(&c, forward.Pairs(8))
		b.check(t, "Unary", c, []int{0}, []int{2})
	}
}

// shape4 is four random dimensions, and strides of a transposed layout of them.
func shape4(r *rand.Rand) (dims, strides []int, elements, reach int) {
	dims = []int{1 + r.IntN(3), 1 + r.IntN(9), 1 + r.IntN(20), 1 + r.IntN(64)}
	a, h, t, d := dims[0], dims[1], dims[2], dims[3]
	switch r.IntN(3) {
	case 0: // tokens × heads read as heads × tokens
		strides = []int{h * t * d, d, h * d, 1}
	case 1: // as it lies
		strides = []int{h * t * d, t * d, d, 1}
	default: // the last two exchanged, with room between rows
		strides = []int{h * t * d * 2, t * d * 2, 2, 2 * t}
	}
	elements = a * h * t * d
	reach = 1
	for i, n := range dims {
		reach += (n - 1) * strides[i]
	}
	return dims, strides, elements, reach
}

func TestCopies(t *testing.T) { each(t, testCopies) }

func testCopies(t *testing.T, b *bench, r *rand.Rand) {
	for range 20 {
		dims, strides, n, reach := shape4(r)
		c := reference.Call{Function: "copy_f32_strided"}
		c.Args[0], c.Args[1], c.Args[2], c.Args[3] = u64s(n), u64s(4), u64s(dims...), u64s(strides...)
		c.Args[4], c.Args[5] = noise(r, reach), room(n+3)
		apply(&c, forward.Linear(n))
		b.check(t, "Unary", c, []int{0, 1, 2, 3}, []int{5})
	}
	for range 30 {
		rows, cols := 1+r.IntN(20), 1+r.IntN(200)
		if r.IntN(2) == 0 { // heads × tokens × head dimension, as the cache has
			rows, cols = 1+r.IntN(9), 64*(1+r.IntN(40))
		}
		from, to := cols+r.IntN(5), cols+r.IntN(300)
		c := reference.Call{Function: "copy2d_f32"}
		c.Args[0], c.Args[1], c.Args[2], c.Args[3] = u64s(rows), u64s(cols), u64s(from), u64s(to)
		c.Args[4], c.Args[5] = noise(r, rows*from), room(rows*to)
		apply(&c, forward.Plane(rows, cols))
		b.check(t, "Unary", c, []int{0, 1, 2, 3}, []int{5})
	}
}

func TestLookup(t *testing.T) { each(t, testLookup) }

func testLookup(t *testing.T, b *bench, r *rand.Rand) {
	for _, right := range []int{1, 31, 64, 576} {
		rows, ids := 1+r.IntN(50), 1+r.IntN(20)
		chosen := make([]int, ids)
		for i := range chosen {
			chosen[i] = r.IntN(rows)
		}
		chosen[r.IntN(ids)] = math.MaxUint32 // a padding entry
		chosen[r.IntN(ids)] = rows + 5       // beyond the table: its last row
		c := reference.Call{Function: "is_u32_f32"}
		n := ids * right
		for i, v := range []int{n, 1, rows, right, ids} {
			c.Args[i] = u64s(v)
		}
		c.Args[5], c.Args[6], c.Args[7] = []byte{1}, u64s(rows, right), u64s(right, 1)
		c.Args[8], c.Args[9], c.Args[10] = noise(r, rows*right), i32s(chosen...), room(n+3)
		apply(&c, forward.Linear(n))
		b.check(t, "Indexing", c, []int{0, 1, 2, 3, 4, 5, 6, 7}, []int{10})
	}
}

func TestWhere(t *testing.T) { each(t, testWhere) }

func testWhere(t *testing.T, b *bench, r *rand.Rand) {
	for bits := range 8 {
		heads, tokens, keys := 1+r.IntN(9), 1+r.IntN(20), 1+r.IntN(40)
		n := heads * tokens * keys
		c := reference.Call{Function: "where_u8_f32"}
		whole := []int{n, tokens * keys, keys, 1}
		strides := [][]int{{0, 0, keys, 1}, {0, 0, 0, 0}, {n, tokens * keys, 1, tokens}}
		for i := range 3 {
			contiguous := bits>>i&1 == 1
			c.Constants = append(c.Constants, metalshim.BoolConstant(i, contiguous))
			if contiguous {
				strides[i] = whole
			}
			c.Args[3+i] = u64s(strides[i]...)
		}
		mask := make([]byte, n)
		for i := range mask {
			mask[i] = byte(r.IntN(3))
		}
		onTrue := noise(r, n)
		copy(onTrue, f32s(float32(math.Inf(-1))))
		c.Args[0], c.Args[1], c.Args[2] = u64s(n), u64s(4), u64s(1, heads, tokens, keys)
		c.Args[6], c.Args[7], c.Args[8], c.Args[9] = mask, onTrue, noise(r, n), room(n+3)
		apply(&c, forward.Pairs(n))
		b.check(t, "Ternary", c, []int{0, 1, 2, 3, 4, 5}, []int{9})
	}
}

func TestRope(t *testing.T) { each(t, testRope) }

func testRope(t *testing.T, b *bench, r *rand.Rand) {
	for _, s := range []struct{ heads, tokens, dim int }{{9, 13, 64}, {3, 1, 64}, {9, 1, 64}, {1, 1, 2}, {4, 7, 32}, {5, 33, 128}} {
		n := s.heads * s.tokens * s.dim
		c := reference.Call{Function: "rope_i_f32"}
		c.Args[0], c.Args[1], c.Args[2] = u64s(s.heads), u64s(s.tokens*s.dim), u64s(0)
		c.Args[3], c.Args[4], c.Args[5], c.Args[6] = noise(r, n), noise(r, n), noise(r, n), room(n+3)
		apply(&c, forward.Linear(n/2))
		b.check(t, "Reduce", c, []int{0, 1, 2}, []int{6})
	}
	// Two sequences of two heads each, with tables of their own.
	c := reference.Call{Function: "rope_i_f32"}
	c.Args[0], c.Args[1], c.Args[2] = u64s(4), u64s(6*32), u64s(2*6*32)
	c.Args[3], c.Args[4], c.Args[5], c.Args[6] = noise(r, 4*6*32), noise(r, 2*6*16), noise(r, 2*6*16), room(4*6*32)
	apply(&c, forward.Linear(4*6*16))
	b.check(t, "Reduce", c, []int{0, 1, 2}, []int{6})
}

func TestRopeHalves(t *testing.T) { each(t, testRopeHalves) }

func testRopeHalves(t *testing.T, b *bench, r *rand.Rand) {
	for _, s := range []struct{ heads, tokens, dim int }{{9, 13, 64}, {3, 1, 64}, {1, 1, 2}, {4, 7, 32}, {5, 33, 128}, {2, 3, 96}, {4, 5, 256}} {
		n := s.heads * s.tokens * s.dim
		c := reference.Call{Function: "rope_f32"}
		c.Args[0], c.Args[1], c.Args[2], c.Args[3] = u64s(s.heads), u64s(s.tokens*s.dim), u64s(s.dim), u64s(0)
		c.Args[4], c.Args[5], c.Args[6], c.Args[7] = noise(r, n), noise(r, n/2), noise(r, n/2), room(n+3)
		apply(&c, forward.Linear(n/2))
		b.check(t, "Reduce", c, []int{0, 1, 2, 3}, []int{7})
	}
	// Two sequences of two heads each, with tables of their own.
	c := reference.Call{Function: "rope_f32"}
	c.Args[0], c.Args[1], c.Args[2], c.Args[3] = u64s(4), u64s(6*32), u64s(32), u64s(2*6*32)
	c.Args[4], c.Args[5], c.Args[6], c.Args[7] = noise(r, 4*6*32), noise(r, 2*6*16), noise(r, 2*6*16), room(4*6*32)
	apply(&c, forward.Linear(4*6*16))
	b.check(t, "Reduce", c, []int{0, 1, 2, 3}, []int{7})
}

func TestReductions(t *testing.T) { each(t, testReductions) }

func testReductions(t *testing.T, b *bench, r *rand.Rand) {
	for _, cols := range append(sizes(r, 3000), 13, 576, 1536, 4096) {
		rows := 1 + r.IntN(5)
		c := reference.Call{Function: "rmsnorm_f32"}
		c.Args[0], c.Args[1] = u64s(rows*cols), u64s(cols)
		c.Args[2], c.Args[3], c.Args[4], c.Args[5] = noise(r, rows*cols), room(rows*cols+3), noise(r, cols), f32s(1e-5)
		apply(&c, forward.Rows(rows, cols))
		b.check(t, "Reduce", c, []int{0, 1, 5}, []int{3})

		c = reference.Call{Function: "softmax_f32"}
		x := noise(r, rows*cols)
		for i := range rows * cols { // masked elements, but not a whole row of them
			if i%cols != 0 && r.IntN(4) == 0 {
				copy(x[4*i:], f32s(float32(math.Inf(-1))))
			}
		}
		c.Args[0], c.Args[1], c.Args[2], c.Args[3] = u64s(rows*cols), u64s(cols), x, room(rows*cols+3)
		apply(&c, forward.Rows(rows, cols))
		b.check(t, "Reduce", c, []int{0, 1}, []int{3})
	}
}

func TestArgmax(t *testing.T) { each(t, testArgmax) }

func testArgmax(t *testing.T, b *bench, r *rand.Rand) {
	for _, n := range append(sizes(r, 60000), 49152) {
		values := make([]float32, n)
		for i := range values { // few different values, so that there are equals
			values[i] = float32(r.IntN(5)) - 9
		}
		c := reference.Call{Function: "fast_argmax_f32"}
		c.Args[0], c.Args[1], c.Args[2], c.Args[3] = i32s(n), i32s(1), i32s(n), i32s(n)
		c.Args[4], c.Args[5] = f32s(values...), room(2)
		apply(&c, forward.Rows(1, n))
		b.check(t, "Reduce", c, []int{0, 1, 2, 3}, []int{5})
	}
	// Three groups of 70: indices count from each group's start.
	c := reference.Call{Function: "fast_argmax_f32"}
	c.Args[0], c.Args[1], c.Args[2], c.Args[3] = i32s(210), i32s(2), i32s(3, 70), i32s(70)
	c.Args[4], c.Args[5] = noise(r, 210), room(4)
	apply(&c, forward.Rows(3, 70))
	b.check(t, "Reduce", c, []int{0, 1, 2, 3}, []int{5})
}
