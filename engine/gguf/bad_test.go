package gguf_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/gguf/gguftest"
)

// says reports whether err contains want, or is nil when want is empty.
func says(err error, want string) bool {
	if want == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), want)
}

// tensors is a file with these tensors only.
func tensors(t ...gguftest.Tensor) gguftest.File { return gguftest.File{Tensors: t} }

// key is a file with this metadata value only.
func key(k string, v any) gguftest.File { return gguftest.File{KV: []gguftest.KV{{Key: k, Value: v}}} }

func f32(name string, offset uint64) gguftest.Tensor {
	return gguftest.Tensor{Name: name, Dims: []uint64{8}, Data: make([]byte, 32), Offset: &offset}
}

func shaped(typ uint32, dims ...uint64) gguftest.Tensor {
	return gguftest.Tensor{Name: "x", Type: typ, Dims: dims, Data: make([]byte, 64)}
}

// nest is an array of n arrays in one another, the innermost empty.
func nest(n int) gguftest.Array {
	a := gguftest.Array{Elem: 8}
	for range n - 1 {
		a = gguftest.Array{Elem: 9, Count: 1, Items: []any{a}}
	}
	return a
}

func TestBadFiles(t *testing.T) {
	huge := uint64(1) << 63
	str := func(n uint64, s string) gguftest.Raw {
		return append(binary.LittleEndian.AppendUint64([]byte{8, 0, 0, 0}, n), s...)
	}
	for _, c := range []struct {
		what string
		file gguftest.File
		want string
	}{
		{"magic", gguftest.File{Magic: "GGML"}, `is not a GGUF file: it starts with "GGML"`},
		{"LFS pointer", gguftest.File{Magic: "version https://git-lfs"}, "Git LFS pointer"},
		{"binary magic", gguftest.File{Magic: "\x80\x1b[2"}, `starts with "\x80\x1b[2"`},
		{"version 1", gguftest.File{Version: 1}, "version 1 is not supported; 2 and 3 are"},
		{"version 4", gguftest.File{Version: 4}, "version 4 is not supported"},
		{"big-endian", gguftest.File{Order: binary.BigEndian}, "big-endian GGUF file, version 3"},
		{"big-endian magic", gguftest.File{Magic: "FUGG"}, "big-endian"},

		{"2^63 tensors", gguftest.File{TensorCount: &huge}, "tensor count at offset 8 is 9223372036854775808"},
		{"2^63 keys", gguftest.File{KeyCount: &huge}, "metadata key count at offset 16 is 9223372036854775808"},
		{"too many keys", gguftest.File{KeyCount: ptr(1), KV: nil, Align: 64}, "metadata key 1 of 1"},
		{"too many tensors", gguftest.File{TensorCount: ptr(2), Tensors: []gguftest.Tensor{f32("a", 0)}}, "tensor 2 of 2"},

		{"no key", key("", uint8(1)), "a key is UTF-8 and not empty"},
		{"key not UTF-8", key("\xff", uint8(1)), "a key is UTF-8"},
		{"long key", key(strings.Repeat("k", 65536), uint8(1)), "65536 bytes long; 65535 are allowed"},
		{"key twice", gguftest.File{KV: []gguftest.KV{{Key: "a", Value: uint8(1)}, {Key: "b", Value: uint8(1)}, {Key: "a", Value: uint8(2)}}}, `key "a" appears twice`},
		{"value type", key("a", gguftest.Raw{13, 0, 0, 0, 1}), "metadata a at offset 37 has the unknown value type 13"},
		{"key for a terminal", key("a\x1b[2J\n", gguftest.Raw{13, 0, 0, 0}), `metadata "a\x1b[2J\n" at offset`},
		{"bool of 2", key("a", gguftest.Raw{7, 0, 0, 0, 2}), "is the bool 2"},
		{"bool of 2 in an array", key("a", gguftest.Raw{9, 0, 0, 0, 7, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2}), "is the bool 2"},
		{"string past the end", key("a", str(100, "short")), "takes 100 bytes, but the file ends"},
		{"string of 2^64-1", key("a", str(math.MaxUint64, "")), "metadata a at offset 45 takes 18446744073709551615 bytes"},
		{"array of 2^63", key("a", gguftest.Array{Elem: 0, Count: huge}), "is an array of 9223372036854775808"},
		{"array of 2^61 numbers", key("a", gguftest.Array{Elem: 10, Count: 1 << 61}), "cannot hold"},
		{"array of 2^60 strings", key("a", gguftest.Array{Elem: 8, Count: 1 << 60}), "cannot hold"},
		{"array of 2^60 arrays", key("a", gguftest.Array{Elem: 9, Count: 1 << 60}), "cannot hold"},
		{"array of an unknown type", key("a", gguftest.Array{Elem: 99, Count: 1}), "array of the unknown value type 99"},
		{"string in an array past the end", key("a", gguftest.Array{Elem: 8, Count: 2, Items: []any{"x", str(999, "")}}), ""},
		{"arrays in arrays without end", key("a", nest(50000)), "nested more than 4 deep"},

		{"five dimensions", tensors(shaped(0, 1, 1, 1, 1, 1)), "has 5 dimensions; at most 4 are allowed"},
		{"zero length of an unknown type", tensors(shaped(1000, 0)), "unknown tensor type 1000"},
		{"zero length of 2^63 columns", tensors(shaped(0, 0, huge)), "product overflows"},
		{"scalar of a block type", tensors(shaped(8)), "rows of 1 elements, which do not fill whole Q8_0 blocks of 32"},
		{"2^63 columns", tensors(shaped(0, huge)), "product overflows"},
		{"2^64 elements", tensors(shaped(0, 1<<32, 1<<32)), "product overflows"},
		{"2^62 F32", tensors(shaped(0, 1<<62)), "size in bytes overflows"},
		{"2^62 blocks", tensors(shaped(8, 1<<62)), "size in bytes overflows"},
		{"2^40 F32", tensors(shaped(0, 1<<40)), "do not fit in the file"},
		{"half a block", tensors(shaped(8, 33)), "do not fill whole Q8_0 blocks of 32"},
		{"half a super-block", tensors(shaped(12, 128, 2)), "do not fill whole Q4_K blocks of 256"},
		{"withdrawn type", tensors(shaped(4, 32)), "unknown tensor type 4"},
		{"unknown type", tensors(shaped(1000, 32)), "unknown tensor type 1000"},
		{"no name", tensors(gguftest.Tensor{Dims: []uint64{1}, Data: make([]byte, 4)}), "a name is UTF-8 and not empty"},
		{"long name", tensors(gguftest.Tensor{Name: strings.Repeat("n", 65), Dims: []uint64{1}, Data: make([]byte, 4)}), "65 bytes long; 64 are allowed"},
		{"tensor twice", tensors(f32("a", 0), f32("a", 32)), `tensor "a" appears twice`},
		{"overlap", tensors(f32("a", 0), f32("b", 0)), `tensors "a" and "b" overlap`},
		{"overlap of a larger one", tensors(shaped(0, 16), f32("b", 32)), `tensors "x" and "b" overlap`},
		{"overlap out of order", tensors(f32("b", 32), shaped(0, 16)), "overlap"},
		{"misaligned", tensors(f32("a", 8)), "data offset 8 is not a multiple of the alignment 32"},
		{"offset past the end", tensors(f32("a", 1<<40)), "do not fit in the file"},
		{"offset of 2^64-32", tensors(f32("a", math.MaxUint64-31)), "do not fit in the file"},
		{"oversized", tensors(f32("a", 0), gguftest.Tensor{Name: "junk", Dims: []uint64{1}, Data: make([]byte, 4+60)}), "60 bytes follow the tensor data"},
		{"data past the end", tensors(f32("a", 32)), "end behind the file"},

		{"alignment 0", key("general.alignment", uint32(0)), "general.alignment is 0; it must be a power of two"},
		{"alignment 48", key("general.alignment", uint32(48)), "general.alignment is 48"},
		{"alignment 4", key("general.alignment", uint32(4)), "general.alignment is 4"},
		{"alignment of another type", key("general.alignment", uint64(32)), "is U64; it must be U32"},
		{"alignment 2^31", key("general.alignment", uint32(1<<31)), "it must be a power of two from 8 to 1048576"},
		{"alignment past the end", gguftest.File{KV: []gguftest.KV{{Key: "general.alignment", Value: uint32(1 << 20)}}, Tensors: []gguftest.Tensor{f32("a", 0)}}, "end behind the file"},
	} {
		t.Run(c.what, func(t *testing.T) {
			if c.what == "string in an array past the end" {
				b, _ := key("a", []string{"x", "yy"}).Bytes()
				binary.LittleEndian.PutUint64(b[24+9+4+12+9:], 999)
				refuse(t, gguftest.WriteBytes(t, b), "metadata a at offset 66 takes 999 bytes")
				return
			}
			refuse(t, c.file.Write(t), c.want)
		})
	}
}

func ptr(n uint64) *uint64 { return &n }

// refuse opens path with every reader and wants the same error from each.
func refuse(t *testing.T, path, want string) {
	t.Helper()
	for _, io := range readers {
		f, err := gguf.Open(path, io)
		if err == nil {
			f.Close()
		}
		if err == nil || !says(err, want) || !says(err, path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v; want one line that says %q and names the file", io, err, want)
		}
	}
}

// TestTruncated: a file cut anywhere before the end of its last tensor is
// refused.
func TestTruncated(t *testing.T) {
	raw := reordered(t, sample(3))
	end := len(raw) - 24 // the last tensor has 8 of 32 bytes
	path := filepath.Join(t.TempDir(), "cut.gguf")
	for n := 1; n < end; n++ {
		if err := os.WriteFile(path, raw[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		for _, io := range readers {
			if f, err := gguf.Open(path, io); err == nil {
				f.Close()
				t.Errorf("%s: a file cut after %d of %d bytes is accepted", io, n, end)
			}
		}
	}
	if err := os.WriteFile(path, raw[:end], 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(path, gguf.MMap)
	if err != nil {
		t.Fatalf("a file without padding at its end: %v", err)
	}
	f.Close()
}

// TestNotFiles: none of these may block or be read.
func TestNotFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("empty"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop", at("loop")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		at("empty"):   "is empty",
		dir:           "is a directory",
		at("fifo"):    "is a FIFO, not a GGUF file",
		os.DevNull:    "is a device, not a GGUF file",
		at("missing"): "no such file",
		at("loop"):    "too many levels of symbolic links",
	} {
		done := make(chan bool)
		go func() {
			refuse(t, path, want)
			close(done)
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: still waiting", path)
		}
	}
	if _, err := gguf.Open(at("empty"), "fast"); !says(err, `reader "fast" is not known; it is one of mmap, buffered and file`) {
		t.Errorf("unknown reader: %v", err)
	}
}
