package cpu_test

import (
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/cpu/kernel"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
	"golang.org/x/sys/unix"
)

// endWithPage makes the file's size a multiple of a page, by a text of suitable
// length in its metadata.
func endWithPage(t *testing.T, c transformertest.Config) string {
	t.Helper()
	st, err := os.Stat(transformertest.Write(t, c))
	if err != nil {
		t.Fatal(err)
	}
	const name = "general.description"
	page := int64(os.Getpagesize())
	need := -st.Size() & (page - 1)
	if need < 64 {
		need += page
	}
	c.Edit = func(w *transformertest.Writable) {
		w.Set(name, strings.Repeat("x", int(need)-8-len(name)-4-8))
	}
	return transformertest.Write(t, c)
}

// beforeForbidden loads the model at path so that its mapping ends at a page that
// may not be read: the system fills a gap of the right size, which is made
// before such a page.
func beforeForbidden(t *testing.T, path string) *transformer.Model {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	size, page := uintptr(st.Size()), uintptr(os.Getpagesize())
	for range 50 {
		gap, err := unix.MmapPtr(-1, 0, nil, size+page, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			t.Fatal(err)
		}
		forbidden := unsafe.Add(gap, size)
		t.Cleanup(func() {
			if err := unix.MunmapPtr(forbidden, page); err != nil {
				t.Error(err)
			}
		})
		if err := unix.MunmapPtr(gap, size); err != nil {
			t.Fatal(err)
		}
		m := model(t, path) // stays open, so that a gap elsewhere is filled once
		data := m.Blocks[len(m.Blocks)-1].Down.Data
		if unsafe.Add(unsafe.Pointer(unsafe.SliceData(data)), len(data)) == forbidden {
			return m
		}
	}
	t.Skip("SKIP: needs a system that maps a file into the last gap of its size")
	return nil
}

// The last tensor of a file ends where the mapping does, at a page that is not
// mapped: nothing reads beyond it.
func TestDataEndWithThePage(t *testing.T) {
	for _, typ := range []quant.Type{quant.Q8_0, quant.Q4_1, quant.Q4_0, quant.Q5_0, quant.F16, quant.F32, quant.IQ4_NL, quant.Q4_K, quant.Q5_K, quant.Q6_K} {
		t.Run(typ.String(), func(t *testing.T) {
			c := transformertest.Config{Type: typ, Embedding: typ, Bits: true, Hidden: 96, FFN: 128, Context: 128}
			if columns, _ := typ.Block(); columns > kernel.Block {
				c.Hidden, c.FFN, c.Heads, c.HeadDim = columns, columns, 4, columns/4
			}
			m := beforeForbidden(t, endWithPage(t, c))
			x := expect(t, m, cpu.Chunk+1)
			for _, set := range kernel.Names() {
				for threads := 1; threads <= 3; threads++ {
					for _, pack := range []cpu.Pack{cpu.PackOff, cpu.PackOn} {
						if worst, _ := x.compare(t, newEngine(t, m, cpu.Options{Set: set, Threads: threads, Pack: pack})); worst > 2e-3 {
							t.Errorf("%s, %d threads, packed %v: largest error of a logit %.6f", set, threads, pack == cpu.PackOn, worst)
						}
					}
				}
			}
		})
	}
}

// Weights that lie beyond 2 and beyond 4 GiB are read from there, in each way of
// reading a file.
func TestLargeFile(t *testing.T) {
	want := expect(t, model(t, transformertest.Write(t, transformertest.Config{Type: quant.Q8_0, Embedding: quant.Q4_1})), 5)
	for _, hole := range []int64{2 << 30, 4<<30 - 64, 5 << 30} {
		path := transformertest.Write(t, transformertest.Config{Type: quant.Q8_0, Embedding: quant.Q4_1, Edit: func(w *transformertest.Writable) { w.Hole = hole }})
		for _, io := range []gguf.IO{gguf.MMap, gguf.Buffered, gguf.FileIO} {
			f, err := gguf.Open(path, io)
			if err != nil {
				t.Fatal(err)
			}
			m, err := transformer.Load(f)
			if err != nil {
				t.Fatal(err)
			}
			e, err := cpu.New(m, cpu.Options{Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			if worst, same := want.compare(t, e); worst > 2e-3 || !same {
				t.Errorf("a hole of %d bytes, %s: largest error of a logit %.6f, ids equal: %v", hole, io, worst, same)
			}
			e.Close()
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
