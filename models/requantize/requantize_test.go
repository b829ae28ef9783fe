package requantize_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/gguf/gguftest"
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

// writeFile writes a GGUF file with a note, a general.file_type of "mostly F16",
// and the tensors.
func writeFile(t *testing.T, tensors ...gguftest.Tensor) string {
	t.Helper()
	return file(1, tensors...).Write(t)
}

func file(fileType uint32, tensors ...gguftest.Tensor) gguftest.File {
	return gguftest.File{
		KV:      []gguftest.KV{{Key: "general.note", Value: "a note"}, {Key: "general.file_type", Value: fileType}},
		Tensors: tensors,
	}
}

func ramp(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i - n/2)
	}
	return v
}

// TestSkippedTensors: what holds no elements or has no dimensions is in the new
// file too, as it was: dropped, it would make another model of the file.
func TestSkippedTensors(t *testing.T) {
	at := uint64(256)
	in := writeFile(t,
		gguftest.Tensor{Name: "none", Dims: []uint64{0, 32}},
		gguftest.Tensor{Name: "w", Dims: []uint64{32, 2}, Data: gguftest.F32(ramp(64)...)},
		gguftest.Tensor{Name: "one", Data: gguftest.F32(3), Offset: &at},
		gguftest.Tensor{Name: "last", Dims: []uint64{0}})
	out := filepath.Join(t.TempDir(), "out.gguf")
	if _, err := requantize.File(t.Context(), in, out, quant.Q8_0, requantize.Options{}); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(out, gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if len(f.Tensors) != 1 || f.Tensors[0].Type != quant.Q8_0 || len(f.Skipped) != 3 {
		t.Fatalf("tensors %+v, skipped %+v", f.Tensors, f.Skipped)
	}
	one, ok := f.SkippedTensor("one")
	if !ok {
		t.Fatal("the scalar is gone")
	}
	if data, err := f.Data(one); err != nil || !bytes.Equal(data, gguftest.F32(3)) {
		t.Errorf("the scalar is %v, %v", data, err)
	}
}

func TestRefusesParts(t *testing.T) {
	in := gguftest.File{KV: []gguftest.KV{{Key: "split.no", Value: uint16(0)}, {Key: "split.count", Value: uint16(2)}}}.Write(t)
	_, err := requantize.File(t.Context(), in, filepath.Join(t.TempDir(), "out.gguf"), quant.Q8_0, requantize.Options{})
	if err == nil || !strings.Contains(err.Error(), "is part 1 of 2 of a split file") {
		t.Errorf("a part: %v", err)
	}
}

func TestWhatIsConvertedAndWhatIsKept(t *testing.T) {
	vector, matrix, narrow := gguftest.F32(ramp(64)...), gguftest.F32(ramp(64)...), gguftest.F32(ramp(40)...)
	norm := gguftest.Tensor{Name: "norm", Dims: []uint64{64}, Data: vector}
	slim := gguftest.Tensor{Name: "narrow", Dims: []uint64{20, 2}, Data: narrow}
	in := writeFile(t, norm, gguftest.Tensor{Name: "matrix", Dims: []uint64{32, 2}, Data: matrix}, slim)
	out := filepath.Join(t.TempDir(), "out.gguf")
	r, err := requantize.File(t.Context(), in, out, quant.Q8_0, requantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Converted != 1 || r.Kept != 2 {
		t.Errorf("result %+v; want the matrix converted, the vector and the narrow matrix kept", r)
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
	want, err := file(7, norm, gguftest.Tensor{Name: "matrix", Type: 8, Dims: []uint64{32, 2}, Data: blocks}, slim).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the new file, %v:\n%q\nwant\n%q", err, got, want)
	}
	if sum := sha256.Sum256(want); r.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("SHA-256 %s is not that of the file", r.SHA256)
	}
}

func TestRefusals(t *testing.T) {
	matrix := gguftest.Tensor{Name: "w", Dims: []uint64{32, 1}, Data: gguftest.F32(ramp(32)...)}
	nan := gguftest.Tensor{Name: "broken", Dims: []uint64{32, 1}, Data: gguftest.F32(append(ramp(31), float32(math.NaN()))...)}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		in   string
		to   quant.Type
		ctx  context.Context
		o    requantize.Options
		says []string
	}{
		"a type without an encoder": {in: writeFile(t, matrix), to: quant.Q6_K, says: []string{"Q6_K", "Q8_0, Q4_0, F16 and F32"}},
		"no file":                   {in: filepath.Join(t.TempDir(), "absent"), says: []string{"absent"}},
		"not a number":              {in: writeFile(t, nan), says: []string{"model.gguf", "broken", "NaN"}},
		"a type without a decoder": {in: writeFile(t, gguftest.Tensor{Name: "odd", Type: 40, Dims: []uint64{64, 1}, Data: make([]byte, 36)}),
			says: []string{"odd", "NVFP4", "cannot be decoded"}},
		"another digest": {in: writeFile(t, matrix), o: requantize.Options{SHA256: strings.Repeat("0", 64)},
			says: []string{"model.gguf", "instead of 0000"}},
		"interrupted": {in: writeFile(t, matrix), ctx: cancelled, says: []string{"cancel"}},
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
	path := writeFile(t, gguftest.Tensor{Name: "w", Dims: []uint64{32, 1}, Data: gguftest.F32(ramp(32)...)})
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
