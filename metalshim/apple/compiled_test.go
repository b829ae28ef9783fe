package apple

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// A metallib is what Apple's offline compiler makes; the stand-in takes a file
// with its first bytes and then the source.
func TestMetallib(t *testing.T) {
	d := open(t, Options{})
	path := filepath.Join(t.TempDir(), "add.metallib")
	if runtime.GOOS == "darwin" {
		source := filepath.Join(filepath.Dir(path), "add.metal")
		if err := os.WriteFile(source, []byte(addSource), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("xcrun", "-sdk", "macosx", "metal", "-o", path, source).CombinedOutput(); err != nil {
			t.Skipf("SKIP: needs Apple's offline compiler: %v\n%s", err, out)
		}
	} else if err := os.WriteFile(path, []byte("MTLB"+addSource), 0o600); err != nil {
		t.Fatal(err)
	}
	l := must(d.NewLibraryFromFile(t.Context(), "Add", path))(t)
	p := must(l.NewPipeline(t.Context(), "add", nil))(t)
	if !slices.Contains(l.FunctionNames(), "through") || l.SourceBytes() != 0 || l.Name() != "Add" {
		t.Errorf("%v, %d bytes", l.FunctionNames(), l.SourceBytes())
	}
	p.Release()
	l.Release()
	if err := os.Truncate(path, 3); err != nil {
		t.Fatal(err)
	}
	if _, err := d.NewLibraryFromFile(t.Context(), "Add", path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a damaged one: %v", err)
	}
}
