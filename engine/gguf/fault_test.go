package gguf_test

import (
	"bytes"
	"errors"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/gguf/gguftest"
)

// shrunk opens a file with a tensor of 1 MiB and cuts it off after the header.
func shrunk(t *testing.T, io gguf.IO) *gguf.File {
	t.Helper()
	file := tensors(gguftest.Tensor{Name: "w", Dims: []uint64{1 << 18}, Data: make([]byte, 1<<20)})
	path := file.Write(t)
	f, err := gguf.Open(path, io)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	return f
}

// needFaults skips where a fault comes without its address, so that nothing can
// tell a shrunken file from a nil pointer: under qemu-user, which emulates it
// so.
func needFaults(t *testing.T, lost []byte) {
	t.Helper()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if _, ok := recover().(interface{ Addr() uintptr }); !ok {
			t.Skip("SKIP: needs a system that reports the address of a fault; qemu-user does not")
		}
	}()
	_ = string(lost)
}

// TestFault: reading what a shrunken file has lost gives an error, from Go and
// from assembly (IndexByte is), on every goroutine that asks for it.
func TestFault(t *testing.T) {
	f := shrunk(t, gguf.MMap)
	data, err := f.Data(&f.Tensors[0])
	if err != nil {
		t.Fatal(err)
	}
	needFaults(t, data[1<<19:][:8])
	for name, read := range map[string]func() error{
		"Go":       func() error { _ = string(data[len(data)/2:][:8]); return nil },
		"assembly": func() error { bytes.IndexByte(data[1<<19:], 1); return nil },
	} {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				err := gguf.Fault(read)
				if !says(err, "cannot be read at offset ") || !says(err, f.Path) {
					t.Errorf("%s: error %v", name, err)
				}
			})
		}
		wg.Wait()
	}
}

func TestFaultPassesOn(t *testing.T) {
	want := errors.New("an error")
	if err := gguf.Fault(func() error { return want }); err != want {
		t.Errorf("error %v, want the one that was returned", err)
	}
	if err := gguf.Fault(func() error { return nil }); err != nil {
		t.Errorf("error %v, want none", err)
	}
	var nowhere *int
	for name, f := range map[string]func() error{
		"a panic":             func() error { panic("a panic") },
		"index out of range":  func() error { s := []int{}; n := len(s); _ = s[n]; return nil },
		"nil pointer":         func() error { *nowhere = 1; return nil },
		"fault within faults": func() error { return gguf.Fault(func() error { panic("fault within faults") }) },
	} {
		func() {
			defer func() {
				if r := recover(); r == nil {
					t.Errorf("%s was swallowed", name)
				} else if s, ok := r.(string); ok && s != name {
					t.Errorf("%s became %v", name, r)
				}
			}()
			err := gguf.Fault(f)
			t.Errorf("%s became the error %v", name, err)
		}()
	}
}

// TestShrunkBeforeUse: the other readers, and metadata asked for too late.
func TestShrunkBeforeUse(t *testing.T) {
	for _, io := range []gguf.IO{gguf.Buffered, gguf.FileIO} {
		f := shrunk(t, io)
		if _, err := f.Data(&f.Tensors[0]); !says(err, "truncated since it was opened") || !says(err, `tensor "w"`) {
			t.Errorf("%s: error %v", io, err)
		}
	}
	file := gguftest.File{KV: []gguftest.KV{
		{Key: "pad", Value: strings.Repeat("x", 1<<16)}, {Key: "name", Value: "late"},
	}}
	path := file.Write(t)
	f, err := gguf.Open(path, gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	needFaults(t, f.Metadata()[:8])
	if _, _, err := f.String("name"); !says(err, "cannot be read at offset") {
		t.Errorf("String: error %v", err)
	}
	if _, err := gguf.NewWriter(new(bytes.Buffer), f, 7, nil); !says(err, "cannot be read at offset") {
		t.Errorf("NewWriter: error %v", err)
	}
}

// TestOverwritten: lengths that were right when the file was opened and are not
// any more end an array early.
func TestOverwritten(t *testing.T) {
	path := gguftest.File{KV: []gguftest.KV{
		{Key: "s", Value: []string{"one", "two", "three"}},
		{Key: "n", Value: []gguftest.Array{{Elem: 8, Count: 1, Items: []any{"x"}}, {Elem: 4, Count: 1, Items: []any{uint32(5)}}}},
	}}.Write(t)
	f, err := gguf.Open(path, gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := bytes.Repeat([]byte{0xff}, 8)
	// The length of "two", and the type and count of the second inner array.
	for _, at := range []int{bytes.Index(b, []byte("two")) - 8, bytes.Index(b, []byte("x\x04")) + 1} {
		if _, err := file.WriteAt(all, int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	strs, _ := f.Get("s")
	n := 0
	for range strs.Strings() {
		n++
	}
	arrays, _ := f.Get("n")
	m := 0
	for range arrays.Elems() {
		m++
	}
	if n != 1 || m != 1 || strs.Len() != 3 || arrays.Len() != 2 {
		t.Errorf("%d strings of %d and %d arrays of %d, want 1 of 3 and 1 of 2", n, strs.Len(), m, arrays.Len())
	}
	if v, ok := (gguf.Value{}).Uint64(); v != 0 || !ok {
		t.Errorf("the zero Value is %d, %v", v, ok)
	}
}
