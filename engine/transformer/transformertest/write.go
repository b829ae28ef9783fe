package transformertest

import (
	"os"
	"path/filepath"
	"testing"
)

// write writes w into a folder of the test's and returns its path. The data are
// not held a second time: they may be a real model's.
func (w *Writable) write(t testing.TB) string {
	t.Helper()
	const align = 32
	f := w.File()
	offsets := make([]uint64, len(w.Tensors))
	end := uint64(0)
	for i := range f.Tensors {
		if i == 1 {
			end += uint64(w.Hole)
		}
		offsets[i] = end
		end = (end + uint64(len(w.Tensors[i].Data)) + align - 1) &^ (align - 1)
		f.Tensors[i].Data, f.Tensors[i].Offset = nil, &offsets[i]
	}
	head, err := f.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.gguf")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	put := func(b []byte, at uint64) {
		if _, err := file.WriteAt(b, int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	put(head, 0)
	for i, x := range w.Tensors {
		put(x.Data, uint64(len(head))+offsets[i])
	}
	if err := file.Truncate(int64(uint64(len(head)) + end)); err != nil {
		t.Fatal(err)
	}
	return path
}
