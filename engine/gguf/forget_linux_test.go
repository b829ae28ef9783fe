package gguf

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// residentOf is what of the mapped file counts as this process's memory, in KiB.
func residentOf(t *testing.T, path string) (kib int) {
	t.Helper()
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	inside := false
	for line := range bytes.Lines(smaps) {
		var n int
		switch {
		case bytes.Contains(line, []byte(path)):
			inside = true
		case inside && bytes.HasPrefix(line, []byte("Rss:")):
			if _, err := fmt.Sscanf(string(line), "Rss: %d kB", &n); err != nil {
				t.Fatal(err)
			}
			kib, inside = kib+n, false
		}
	}
	return kib
}

func TestForget(t *testing.T) {
	const size = 8 << 20
	path := filepath.Join(t.TempDir(), "forgotten")
	want := bytes.Repeat([]byte("weights "), size/8)
	if err := os.WriteFile(path, want, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := mapFile(f, path, size)
	if err != nil {
		t.Fatal(err)
	}
	defer m.unmap()
	if !bytes.Equal(m.bytes, want) || residentOf(t, path) != size>>10 {
		t.Fatalf("%d KiB of %d are resident", residentOf(t, path), size>>10)
	}
	Forget(m.bytes[100 : size-100])
	if got := residentOf(t, path); got > 64 {
		t.Errorf("%d KiB are resident after they were forgotten", got)
	}
	if !bytes.Equal(m.bytes, want) {
		t.Error("what was forgotten reads otherwise")
	}
	// A slice within a page, one of other memory, and none, are left alone.
	Forget(m.bytes[100:200])
	Forget(nil)
	other := bytes.Repeat([]byte("x"), 1<<20)
	Forget(other)
	if other[1<<19] != 'x' {
		t.Error("memory that is no file was forgotten")
	}
}
