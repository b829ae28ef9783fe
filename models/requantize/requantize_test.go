package requantize_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
	"github.com/introgen/introgen/models/requantize"
)

// TestRealModel holds the requantizer to a digest that the Python package gguf
// made: its dequantize and quantize over the same file.
func TestRealModel(t *testing.T) {
	in := modeltest.Path(t, models.Source)
	want, _ := models.Lookup(models.StandIn)
	out := filepath.Join(t.TempDir(), "q8.gguf")
	r, err := requantize.File(t.Context(), in, out, quant.Q8_0, requantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r != (requantize.Result{Converted: 210, Kept: 62, SHA256: want.SHA256}) {
		t.Errorf("result %+v; want 210 converted, 62 kept, SHA-256 %s", r, want.SHA256)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	if got := hex.EncodeToString(sum[:]); got != want.SHA256 {
		t.Errorf("SHA-256 of %d bytes is %s; want %s", len(b), got, want.SHA256)
	}
}

func BenchmarkRealModel(b *testing.B) {
	in := modeltest.Path(b, models.Source)
	out := filepath.Join(b.TempDir(), "q8.gguf")
	for b.Loop() {
		if _, err := requantize.File(b.Context(), in, out, quant.Q8_0, requantize.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// tensor is one of a small file written by writeFile.
type tensor struct {
	name string
	typ  quant.Type
	dims []uint64
	data []byte
}

func floats(v ...float32) (b []byte) {
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

func text(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

// metadata is two keys: a text and general.file_type.
func metadata(note string) []byte {
	b := text(nil, "general.note")
	b = text(binary.LittleEndian.AppendUint32(b, 8), note)
	b = text(b, "general.file_type")
	b = binary.LittleEndian.AppendUint32(b, 4)
	return binary.LittleEndian.AppendUint32(b, 1)
}

// writeFile writes a GGUF file after the specification, independently of the
// code under test.
func writeFile(t *testing.T, meta []byte, keys int, tensors ...tensor) string {
	t.Helper()
	le := binary.LittleEndian
	b := le.AppendUint32([]byte("GGUF"), 3)
	b = le.AppendUint64(b, uint64(len(tensors)))
	b = le.AppendUint64(b, uint64(keys))
	b = append(b, meta...)
	var data []byte
	for _, x := range tensors {
		b = text(b, x.name)
		b = le.AppendUint32(b, uint32(len(x.dims)))
		for _, d := range x.dims {
			b = le.AppendUint64(b, d)
		}
		b = le.AppendUint32(b, uint32(x.typ))
		b = le.AppendUint64(b, uint64(len(data)))
		data = append(data, x.data...)
		data = append(data, make([]byte, -len(data)&31)...)
	}
	b = append(b, make([]byte, -len(b)&31)...)
	path := filepath.Join(t.TempDir(), "in.gguf")
	if err := os.WriteFile(path, append(b, data...), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func ramp(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i - n/2)
	}
	return v
}

func TestWhatIsConvertedAndWhatIsKept(t *testing.T) {
	vector, matrix, narrow := floats(ramp(64)...), floats(ramp(64)...), floats(ramp(40)...)
	in := writeFile(t, metadata("a note"), 2,
		tensor{"norm", quant.F32, []uint64{64}, vector},
		tensor{"matrix", quant.F32, []uint64{32, 2}, matrix},
		tensor{"narrow", quant.F32, []uint64{20, 2}, narrow},
	)
	out := filepath.Join(t.TempDir(), "out.gguf")
	r, err := requantize.File(t.Context(), in, out, quant.Q8_0, requantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Converted != 1 || r.Kept != 2 {
		t.Errorf("result %+v; want the matrix converted, the vector and the narrow matrix kept", r)
	}
	f, err := gguf.Open(out, gguf.Buffered)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if v, ok, err := f.Uint32("general.file_type"); v != 7 || !ok || err != nil {
		t.Errorf("general.file_type = %d, %v, %v; want 7, mostly Q8_0", v, ok, err)
	}
	want := metadata("a note")
	want[len(want)-4] = 7
	if got := f.Metadata(); !bytes.Equal(got, want) {
		t.Errorf("metadata %q\nwant %q", got, want)
	}
	// Two blocks, -32…-1 and 0…31: scales 32/127 and 31/127 in binary16, then
	// the values over the unrounded scale, rounded.
	blocks := []byte{0x08, 0x34}
	for v := -32; v < 0; v++ {
		blocks = append(blocks, byte(int8(math.Round(float64(v)*127/32))))
	}
	blocks = append(blocks, 0xd0, 0x33)
	for v := range 32 {
		blocks = append(blocks, byte(math.Round(float64(v)*127/31)))
	}
	for i, want := range []struct {
		name string
		typ  quant.Type
		data []byte
	}{{"norm", quant.F32, vector}, {"matrix", quant.Q8_0, blocks}, {"narrow", quant.F32, narrow}} {
		x := &f.Tensors[i]
		got, err := f.Data(x)
		if err != nil {
			t.Fatal(err)
		}
		if x.Name != want.name || x.Type != want.typ || !bytes.Equal(got, want.data) {
			t.Errorf("tensor %d is %q %v % x\nwant %q %v % x", i, x.Name, x.Type, got, want.name, want.typ, want.data)
		}
	}
}

func TestRefusals(t *testing.T) {
	matrix := tensor{"w", quant.F32, []uint64{32, 1}, floats(ramp(32)...)}
	nan := tensor{"broken", quant.F32, []uint64{32, 1}, floats(append(ramp(31), float32(math.NaN()))...)}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		in   string
		to   quant.Type
		ctx  context.Context
		o    requantize.Options
		says []string
	}{
		"a type without an encoder": {in: writeFile(t, metadata(""), 2, matrix), to: quant.Q6_K, says: []string{"Q6_K", "Q8_0, Q4_0, F16 and F32"}},
		"no file":                   {in: filepath.Join(t.TempDir(), "absent"), says: []string{"absent"}},
		"not a number":              {in: writeFile(t, metadata(""), 2, nan), says: []string{"in.gguf", "broken", "NaN"}},
		"a type without a decoder": {in: writeFile(t, metadata(""), 2, tensor{"odd", 23, []uint64{256, 1}, make([]byte, 136)}),
			says: []string{"odd", "IQ4_XS", "cannot be decoded"}},
		"another digest": {in: writeFile(t, metadata(""), 2, matrix), o: requantize.Options{SHA256: strings.Repeat("0", 64)},
			says: []string{"in.gguf", "instead of 0000"}},
		"interrupted": {in: writeFile(t, metadata(""), 2, matrix), ctx: cancelled, says: []string{"cancel"}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.to == 0 {
				c.to = quant.Q8_0
			}
			if c.ctx == nil {
				c.ctx = t.Context()
			}
			dir := t.TempDir()
			_, err := requantize.File(c.ctx, c.in, filepath.Join(dir, "out.gguf"), c.to, c.o)
			if err == nil {
				t.Fatal("File succeeded")
			}
			for _, s := range c.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("error %q does not say %q", err, s)
				}
			}
			if left, _ := os.ReadDir(dir); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestOverItself replaces a file by its own requantized bytes, which are read
// from the old one until the end.
func TestOverItself(t *testing.T) {
	path := writeFile(t, metadata(""), 2, tensor{"w", quant.F32, []uint64{32, 1}, floats(ramp(32)...)})
	if _, err := requantize.File(t.Context(), path, path, quant.F16, requantize.Options{}); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(path, gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if x, ok := f.Tensor("w"); !ok || x.Type != quant.F16 || x.Bytes != 64 {
		t.Errorf("tensor %+v; want 64 bytes of F16", x)
	}
}
