package gguf_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/gguf/gguftest"
)

// part is a part of a split file as llama-gguf-split writes it: the first has the
// metadata and, as it may (--no-tensor-first-split), tensors; each says its number.
func part(no, of, tensors int, kv []gguftest.KV, named ...string) gguftest.File {
	f := gguftest.File{KV: append(kv,
		gguftest.KV{Key: "split.no", Value: uint16(no)},
		gguftest.KV{Key: "split.count", Value: uint16(of)},
		gguftest.KV{Key: "split.tensors.count", Value: int32(tensors)})}
	for _, name := range named {
		f.Tensors = append(f.Tensors, gguftest.Tensor{Name: name, Type: 0, Dims: []uint64{2}, Data: gguftest.F32(float32(no), float32(len(name)))})
	}
	return f
}

// writeParts writes parts under the names that they have beside each other.
func writeParts(t *testing.T, files ...gguftest.File) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i, f := range files {
		b, err := f.Bytes()
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("m-%05d-of-%05d.gguf", i+1, len(files))), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var about = []gguftest.KV{{Key: "general.architecture", Value: "llama"}, {Key: "general.name", Value: "m"}}

func TestOpenWhole(t *testing.T) {
	for _, reader := range []gguf.IO{gguf.MMap, gguf.Buffered, gguf.FileIO} {
		dir := writeParts(t, part(0, 3, 4, about, "a"), part(1, 3, 4, nil, "bb", "ccc"), part(2, 3, 4, nil, "dddd"))
		first := filepath.Join(dir, "m-00001-of-00003.gguf")
		f, err := gguf.OpenWhole(first, reader)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.CheckWhole(); err != nil || len(f.Tensors) != 4 {
			t.Errorf("%d tensors, %v; want 4 of a whole file", len(f.Tensors), err)
		}
		for name, want := range map[string]int{"a": 0, "bb": 1, "ccc": 1, "dddd": 2} {
			x, ok := f.Tensor(name)
			if !ok || x.Beside() != (want > 0) {
				t.Fatalf("tensor %s: there %v, beside %v", name, ok, x.Beside())
			}
			b, err := f.Data(x)
			if err != nil || string(b) != string(gguftest.F32(float32(want), float32(len(name)))) {
				t.Errorf("tensor %s holds %v, %v; want what part %d has", name, b, err, want+1)
			}
		}
		var bytes int64
		for i := 1; i <= 3; i++ {
			is, err := os.Stat(filepath.Join(dir, fmt.Sprintf("m-%05d-of-00003.gguf", i)))
			if err != nil {
				t.Fatal(err)
			}
			bytes += is.Size()
		}
		if f.Whole() != bytes {
			t.Errorf("the parts have %d bytes, want %d", f.Whole(), bytes)
		}
		if name, _, _ := f.String("general.name"); name != "m" {
			t.Errorf("its name is %q, want the first part's", name)
		}
		x, _ := f.Tensor("dddd")
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if reader != gguf.MMap {
			if _, err := f.Data(x); !says(err, "is closed") {
				t.Errorf("data of a closed part: %v", err)
			}
		}
	}
}

func TestOpenWholeRefuses(t *testing.T) {
	two := func(second gguftest.File) []gguftest.File { return []gguftest.File{part(0, 2, 2, about, "a"), second} }
	for want, c := range map[string]struct {
		files []gguftest.File
		open  string
		edit  func(dir string) error
	}{
		"part 2 of 2 is missing: m-00002-of-00002.gguf must lie beside it": {files: two(part(1, 2, 2, nil, "b")),
			edit: func(dir string) error { return os.Remove(filepath.Join(dir, "m-00002-of-00002.gguf")) }},
		"is part 2 of 2 of a split file (metadata split.no, split.count); give the first, m-00001-of-00002.gguf": {
			files: two(part(1, 2, 2, nil, "b")), open: "m-00002-of-00002.gguf"},
		"is part 1 of 2 by its metadata (split.no, split.count), and part 2 of 2 by its name": {files: two(part(0, 2, 2, about, "a"))},
		"is part 2 of 3 by its metadata (split.no, split.count), and part 2 of 2 by its name": {files: two(part(1, 3, 2, nil, "b"))},
		`tensor "a" is in an earlier part too`:                                                {files: two(part(1, 2, 2, nil, "a"))},
		"its 2 parts have 3 tensors, and metadata split.tensors.count is 2":                   {files: two(part(1, 2, 2, nil, "b", "c"))},
		`is of architecture "gemma3", and m-00001-of-00002.gguf of "llama"`: {
			files: two(part(1, 2, 2, []gguftest.KV{{Key: "general.architecture", Value: "gemma3"}}, "b"))},
		"cannot be found by its name; parts are named NAME-00001-of-00002.gguf": {files: two(part(1, 2, 2, nil, "b")), open: "m.gguf",
			edit: func(dir string) error {
				return os.Rename(filepath.Join(dir, "m-00001-of-00002.gguf"), filepath.Join(dir, "m.gguf"))
			}},
		"is one of 2 parts by its name and of 5 by its metadata": {files: []gguftest.File{part(0, 5, 2, about, "a"), part(1, 5, 2, nil, "b")}},
		"m-00002-of-00002.gguf: is empty": {files: two(part(1, 2, 2, nil, "b")),
			edit: func(dir string) error { return os.Truncate(filepath.Join(dir, "m-00002-of-00002.gguf"), 0) }},
	} {
		dir := writeParts(t, c.files...)
		if c.edit != nil {
			if err := c.edit(dir); err != nil {
				t.Fatal(err)
			}
		}
		if c.open == "" {
			c.open = "m-00001-of-00002.gguf"
		}
		f, err := gguf.OpenWhole(filepath.Join(dir, c.open), gguf.MMap)
		if !says(err, want) {
			t.Errorf("error %v; want one that says %q", err, want)
		}
		if err == nil {
			f.Close()
		}
	}
}

// TestWholePageCache: the parts count by their sizes, and a missing one is an error.
func TestWholePageCache(t *testing.T) {
	dir := writeParts(t, part(0, 2, 2, about, "a"), part(1, 2, 2, nil, "b"))
	first := filepath.Join(dir, "m-00001-of-00002.gguf")
	if share, err := gguf.Resident(first); err == nil && share != 1 {
		t.Errorf("%v of files that have just been written lie in memory; want all", share)
	}
	if err := os.Remove(filepath.Join(dir, "m-00002-of-00002.gguf")); err != nil {
		t.Fatal(err)
	}
	if _, err := gguf.Resident(first); !says(err, "m-00002-of-00002.gguf") {
		t.Errorf("with a part missing: %v", err)
	}
}
