package gguf_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/gguf/gguftest"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
)

// TestOpenIsLazy: opening a model does not copy its 98,052 strings.
func TestOpenIsLazy(t *testing.T) {
	path := modeltest.Path(t, models.StandIn)
	allocs := testing.AllocsPerRun(3, func() {
		f, err := gguf.Open(path, gguf.MMap)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	})
	if allocs > 1000 {
		t.Errorf("%v allocations for 33 keys and 272 tensors", allocs)
	}
}

// reads returns how many read system calls this process has made.
func reads(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skipf("SKIP: needs Linux's /proc/self/io: %v", err)
	}
	for line := range strings.Lines(string(b)) {
		var n int
		if _, err := fmt.Sscanf(line, "syscr: %d", &n); err == nil {
			return n
		}
	}
	t.Skip("SKIP: needs syscr in /proc/self/io")
	return 0
}

// TestReadCalls: file reads each number and string by itself, buffered reads in
// blocks of 8 KiB, mmap does not read.
func TestReadCalls(t *testing.T) {
	const n = 1000
	s := make([]string, n)
	for i := range s {
		s[i] = "token"
	}
	path := gguftest.File{KV: []gguftest.KV{
		{Key: "strings", Value: s}, {Key: "numbers", Value: make([]int32, n)},
	}}.Write(t)
	// The length and the text of every string, every number, and of the rest:
	// magic, version and two counts; for each key the length, the name, the
	// type, the type of the elements and their number.
	byOne := 2*n + n + 4 + 2*5
	inBlocks := 24/8 + (n*(8+5)+4*n)/(8<<10)
	for io, want := range map[gguf.IO]int{gguf.MMap: 0, gguf.Buffered: inBlocks, gguf.FileIO: byOne} {
		before := reads(t)
		f, err := gguf.Open(path, io)
		if err != nil {
			t.Fatal(err)
		}
		got := reads(t) - before
		f.Close()
		// Reading /proc/self/io takes some calls itself.
		if got < want || got > want+8 {
			t.Errorf("%s: %d reads, want %d", io, got, want)
		}
	}
}

// TestHostileMegabyte: no file of 1 MiB makes any reader allocate more than
// 64 MiB, whatever it claims and whatever it is full of.
func TestHostileMegabyte(t *testing.T) {
	const size, limit = 1 << 20, 64 << 20
	le := binary.LittleEndian
	start := func(tensors, keys uint64) []byte {
		b := le.AppendUint32([]byte("GGUF"), 3)
		return le.AppendUint64(le.AppendUint64(b, tensors), keys)
	}
	// until fills a file with pieces, then states how many there are.
	until := func(at int, piece func(i int) []byte) []byte {
		b := start(0, 0)
		n := uint64(0)
		for ; len(b)+64 < size; n++ {
			b = append(b, piece(int(n))...)
		}
		le.PutUint64(b[at:], n)
		return append(b, make([]byte, size-len(b))...)
	}
	name := func(i int) []byte { // a different one for each i, with its length
		return append(le.AppendUint64(nil, 4), fmt.Sprintf("%04x", i)[:4]...)
	}
	short := func(i int) []byte { // as short as can be
		s := string(rune('a' + i%1000))
		return append(le.AppendUint64(nil, uint64(len(s))), s...)
	}
	array := func(elem uint32, n uint64) []byte {
		b := append(start(0, 1), name(0)...)
		b = le.AppendUint64(le.AppendUint32(le.AppendUint32(b, 9), elem), n)
		return append(b, make([]byte, size-len(b))...)
	}
	for what, b := range map[string][]byte{
		"keys": until(16, func(i int) []byte { return append(name(i), 0, 0, 0, 0, 1) }),
		"tensors": until(8, func(i int) []byte {
			b := le.AppendUint64(le.AppendUint32(name(i), 1), 1) // one dimension of 1
			return le.AppendUint64(le.AppendUint32(b, 0), 0)
		}),
		"tensors of four dimensions": until(8, func(i int) []byte {
			b := le.AppendUint32(name(i), 4)
			for range 4 {
				b = le.AppendUint64(b, 1)
			}
			return le.AppendUint64(le.AppendUint32(b, 0), uint64(32*i))
		}),
		"the same key over and over": until(16, func(i int) []byte { return append(short(i), 0, 0, 0, 0, 1) }),
		"claimed keys":               append(start(0, size/14-10), make([]byte, size-24)...),
		"claimed tensors":            append(start(size/33-10, 0), make([]byte, size-24)...),
		"empty strings":              array(8, (size-64)/8),
		"empty arrays":               array(9, (size-64)/12),
		"numbers":                    array(5, (size-64)/4),
		"a long key":                 append(append(start(0, 1), 0xff, 0xff, 0, 0, 0, 0, 0, 0), bytes.Repeat([]byte("k"), size-32)...),
		"a long string": append(append(append(start(0, 1), name(0)...), 8, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0),
			make([]byte, size-48)...),
	} {
		path := gguftest.WriteBytes(t, b)
		for _, io := range readers {
			if got := allocated(func() { openAll(path, io) }); got > limit {
				t.Errorf("%s, %s: %d MiB allocated, %d are allowed", what, io, got>>20, limit>>20)
			}
		}
	}
}

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// openAll opens a file and, where that works, reads all there is.
func openAll(path string, io gguf.IO) {
	f, err := gguf.Open(path, io)
	if err != nil {
		return
	}
	defer f.Close()
	for _, v := range f.Keys() {
		v.Str()
		v.Int32s()
		v.Float32s()
		for _, s := range v.Strings() {
			_ = s
		}
		walk(v)
	}
	for i := range f.Tensors {
		f.Data(&f.Tensors[i])
	}
}

// walk visits the elements of an array and those of arrays in it.
func walk(v gguf.Value) int {
	n := 1
	for _, e := range v.Elems() {
		n += walk(e)
	}
	return n
}

// BenchmarkOpen is the experiment's "read gguf": 130 ms raw and 31 ms buffered
// there, on another machine and in another language.
func BenchmarkOpen(b *testing.B) {
	path := modeltest.Path(b, models.StandIn)
	for _, io := range readers {
		b.Run(string(io), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f, err := gguf.Open(path, io)
				if err != nil {
					b.Fatal(err)
				}
				f.Close()
			}
		})
	}
}
