package gguf_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"testing"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/gguf/gguftest"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
)

// rewrite copies f with its tensors as they are, in pieces of step bytes.
func rewrite(t *testing.T, w io.Writer, f *gguf.File, fileType uint32, step int) {
	t.Helper()
	out, err := gguf.NewWriter(w, f, fileType, f.Tensors)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Tensors {
		data, err := f.Data(&f.Tensors[i])
		if err != nil {
			t.Fatal(err)
		}
		for len(data) > 0 {
			n := min(step, len(data))
			if _, err := out.Write(data[:n]); err != nil {
				t.Fatal(err)
			}
			data = data[n:]
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRewriteIsIdentity: a file that ggml's own writer laid out comes out byte
// for byte when nothing is changed. The digest is that of the published file.
func TestRewriteIsIdentity(t *testing.T) {
	path := modeltest.Path(t, models.Source)
	known, _ := models.Lookup(models.Source)
	f, err := gguf.Open(path, gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fileType, _, err := f.Uint32("general.file_type")
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	rewrite(t, h, f, fileType, 1<<20)
	if got := hex.EncodeToString(h.Sum(nil)); got != known.SHA256 {
		t.Errorf("SHA-256 %s, want %s", got, known.SHA256)
	}
}

// TestRewrite: general.file_type is replaced whatever it was, or added, and
// the rest stays; the result is what the builder makes of the same contents.
func TestRewrite(t *testing.T) {
	before, after := gguftest.KV{Key: "a", Value: []string{"x", "y"}}, gguftest.KV{Key: "z", Value: int8(-1)}
	is := func(v any) gguftest.KV { return gguftest.KV{Key: "general.file_type", Value: v} }
	align := gguftest.KV{Key: "general.alignment", Value: uint32(64)}
	for name, c := range map[string]struct{ in, want []gguftest.KV }{
		"same type":    {[]gguftest.KV{before, align, is(uint32(3)), after}, []gguftest.KV{before, align, is(uint32(7)), after}},
		"another type": {[]gguftest.KV{before, align, is("three"), after}, []gguftest.KV{before, align, is(uint32(7)), after}},
		"last":         {[]gguftest.KV{align, is(uint64(3))}, []gguftest.KV{align, is(uint32(7))}},
		"absent":       {[]gguftest.KV{before, align}, []gguftest.KV{before, align, is(uint32(7))}},
	} {
		t.Run(name, func(t *testing.T) {
			file := gguftest.File{Version: 2, Align: 64, KV: c.in, Tensors: []gguftest.Tensor{
				{Name: "w", Type: 8, Dims: []uint64{32, 3}, Data: bytes.Repeat([]byte{7}, 102)},
				{Name: "n", Dims: []uint64{1}, Data: gguftest.F32(1)},
			}}
			f, err := gguf.Open(file.Write(t), gguf.Buffered)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			var got bytes.Buffer
			rewrite(t, &got, f, 7, 5)
			file.KV = c.want
			want, err := file.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("got  %q\nwant %q", got.Bytes(), want)
			}
		})
	}
}

// TestRetype: a tensor gets another type, and with it other sizes and offsets.
func TestRetype(t *testing.T) {
	f, err := gguf.Open(gguftest.WriteBytes(t, reordered(t, sample(3))), gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	specs := append([]gguf.Tensor(nil), f.Tensors...)
	specs[1].Type = quant.Q4_0
	var b bytes.Buffer
	w, err := gguf.NewWriter(&b, f, 2, specs)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{12, 4 * 18, 8} {
		if _, err := w.Write(bytes.Repeat([]byte{byte(n)}, n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := gguf.Open(gguftest.WriteBytes(t, b.Bytes()), gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for i, want := range []struct {
		typ    quant.Type
		offset int64
		bytes  int64
	}{{quant.F32, 0, 12}, {quant.Q4_0, 32, 72}, {quant.F16, 128, 8}} {
		x := out.Tensors[i]
		data, err := out.Data(&x)
		if err != nil {
			t.Fatal(err)
		}
		if x.Type != want.typ || x.Offset-out.DataOffset != want.offset || x.Bytes != want.bytes || data[0] != byte(want.bytes) {
			t.Errorf("%s: %v at %d, %d bytes of %d", x.Name, x.Type, x.Offset-out.DataOffset, x.Bytes, data[0])
		}
	}
	if f.Tensors[1].Type != quant.Q8_0 {
		t.Error("NewWriter changed the file that it copies")
	}
}

// TestWriterRefuses: wrong specifications and wrong amounts of data.
func TestWriterRefuses(t *testing.T) {
	f, err := gguf.Open(gguftest.WriteBytes(t, reordered(t, sample(3))), gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, c := range []struct {
		spec gguf.Tensor
		want string
	}{
		{gguf.Tensor{Name: "x", Type: quant.Q8_0, Dims: []uint64{33}}, `tensor "x": has rows of 33`},
		{gguf.Tensor{Name: "x", Type: 77, Dims: []uint64{32}}, "unknown tensor type 77"},
		{gguf.Tensor{Name: "x", Type: quant.F32, Dims: make([]uint64, 5)}, "has 5 dimensions"},
		{gguf.Tensor{Name: "x", Type: quant.F32, Dims: []uint64{1 << 59}}, "size in bytes overflows"},
	} {
		if _, err := gguf.NewWriter(io.Discard, f, 7, []gguf.Tensor{c.spec}); !says(err, c.want) {
			t.Errorf("%v: error %v, want %q", c.spec, err, c.want)
		}
	}
	half := gguf.Tensor{Name: "half", Type: quant.F32, Dims: []uint64{1 << 57}}
	if _, err := gguf.NewWriter(io.Discard, f, 7, []gguf.Tensor{half, half, half}); !says(err, "add up to more than") {
		t.Errorf("too much in sum: %v", err)
	}
	two := []gguf.Tensor{{Name: "a", Type: quant.F32, Dims: []uint64{4}}, {Name: "b", Type: quant.F32, Dims: []uint64{4}}}
	w, err := gguf.NewWriter(io.Discard, f, 7, two)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 20)); !says(err, `20 bytes for tensor "a", which has room for 16 more`) {
		t.Errorf("too much for a tensor: %v", err)
	}
	if _, err := w.Write(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); !says(err, "the file ends at byte") {
		t.Errorf("closed early: %v", err)
	}
	if _, err := w.Write(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 1)); !says(err, "1 bytes after the last tensor") {
		t.Errorf("too much: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("complete, but: %v", err)
	}
	full := errors.New("disk full")
	if _, err := gguf.NewWriter(failing{full}, f, 7, two); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
