package soft

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/introgen/introgen/metalshim"
)

// sourceCase is a file of testdata/cases, and what one of its kernels writes. Buffer 0
// is the output, one number of 32 bits for each thread; buffer 1 holds float32 numbers,
// in[i] = i - 15.5 unless the case says otherwise.
type sourceCase struct {
	file      string // without .metal
	kernel    string // "k" if empty
	threads   int    // 32 if 0, in one threadgroup
	constants []metalshim.Constant
	buffers   map[int][]byte // instead of those, and further ones
	integers  bool           // the output is of int or uint
	tolerance float64        // relative to the larger of 1 and the right value
	want      func(i int, in []float32) float64
}

// cases runs a table. A source compiles once for all of its kernels in the table.
func cases(t *testing.T, table []sourceCase) {
	t.Helper()
	for _, c := range table {
		if c.kernel == "" {
			c.kernel = "k"
		}
		t.Run(c.file+"/"+c.kernel, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", "cases", c.file+".metal"))
			if err != nil {
				t.Fatal(err)
			}
			c.run(t, string(text))
		})
	}
}

// run compiles the text and compares what the kernel writes.
func (c sourceCase) run(t *testing.T, text string) {
	t.Helper()
	d := testDevice(t)
	if c.threads == 0 {
		c.threads = 32
	}
	in := make([]float32, c.threads)
	for i := range in {
		in[i] = float32(i) - 15.5
	}
	contents := map[int][]byte{0: make([]byte, 4*c.threads), 1: float32s(in...)}
	for i, b := range c.buffers {
		contents[i] = b
	}
	p := pipe(t, compile(t, d, c.file, text), c.kernel, c.constants...)
	made := map[int]metalshim.Buffer{}
	for i, b := range contents {
		buffer, err := d.NewBufferWithBytes(b)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(buffer.Release)
		made[i] = buffer
	}
	err := run(t, d, func(e metalshim.Encoder) error {
		e.SetPipeline(p)
		for i, b := range made {
			e.SetBuffer(i, b, 0)
		}
		return e.DispatchThreads(one(c.threads), one(c.threads))
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range floats(made[0])[:c.threads] {
		got := float64(v)
		if c.integers {
			got = float64(int32(math.Float32bits(v)))
		}
		want := c.want(i, in)
		if d := math.Abs(got - want); !(d <= c.tolerance*max(1, math.Abs(want))) {
			t.Fatalf("out[%d] = %v, want %v", i, got, want)
		}
	}
}

// float32s are numbers as they lie in a buffer.
func float32s(values ...float32) []byte {
	out := make([]byte, 4*len(values))
	for i, v := range values {
		binary.LittleEndian.PutUint32(out[4*i:], math.Float32bits(v))
	}
	return out
}
