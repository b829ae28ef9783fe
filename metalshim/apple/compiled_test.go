package apple

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/shimtest"
	"github.com/introgen/introgen/trace/names"
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

func TestArchive(t *testing.T) {
	d := open(t, Options{})
	l := compile(t, d)
	defer l.Release()
	path := filepath.Join(t.TempDir(), "pipelines.metalar")
	for _, want := range []string{names.CacheMiss, names.CacheHit} {
		x := must(d.NewArchive(path))(t)
		has, err := x.Has(t.Context(), l, "add", nil)
		if err != nil || has != (want == names.CacheHit) {
			t.Errorf("%s: the archive has it: %v, %v", want, has, err)
		}
		p := must(x.NewPipeline(t.Context(), l, "add", nil))(t)
		if e := p.Evidence(); e.State != want || e.Note != "" {
			t.Errorf("%+v, want a %s", e, want)
		}
		if has, err := x.Has(t.Context(), l, "through", nil); has || err != nil {
			t.Errorf("it has a pipeline that nobody added: %v", err)
		}
		if _, err := x.NewPipeline(t.Context(), l, "none", nil); err == nil {
			t.Error("an absent function is found")
		}
		if want == names.CacheMiss {
			if err := x.Save(); err != nil {
				t.Error(err)
			}
		}
		p.Release()
		x.Release()
		x.Release()
		if _, err := x.NewPipeline(t.Context(), l, "add", nil); !errors.Is(err, metalshim.ErrReleased) {
			t.Errorf("released: %v", err)
		}
		if err := x.Save(); !errors.Is(err, metalshim.ErrReleased) {
			t.Errorf("save of a released one: %v", err)
		}
	}
	if d.Archives() != 0 {
		t.Errorf("%d archives are left", d.Archives())
	}
}

func TestArchiveFaults(t *testing.T) {
	d := open(t, Options{})
	l := compile(t, d)
	defer l.Release()
	if e := l.Evidence(); e != (metalshim.Evidence{}) {
		t.Errorf("a library that Metal says nothing of: %+v", e)
	}
	dir := t.TempDir()
	damaged := filepath.Join(dir, "damaged")
	if err := os.WriteFile(damaged, []byte("nothing of the kind"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.NewArchive(damaged); err == nil || !strings.Contains(err.Error(), damaged) || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("a damaged archive: %v", err)
	}
	if _, err := d.NewArchive(filepath.Join(damaged, "below")); err == nil {
		t.Error("an archive below a file is opened")
	}
	x := must(d.NewArchive(filepath.Join(dir, "absent", "archive")))(t)
	defer x.Release()
	must(x.NewPipeline(t.Context(), l, "add", nil))(t).Release()
	if err := x.Save(); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("saved in a folder that is not there: %v", err)
	}
	taken := filepath.Join(dir, "taken")
	y := must(d.NewArchive(taken))(t)
	must(y.NewPipeline(t.Context(), l, "add", nil))(t).Release()
	if err := os.Mkdir(taken, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := y.Save(); err == nil || !strings.Contains(err.Error(), taken) {
		t.Errorf("saved over a folder: %v", err)
	}
	y.Release()
	if left, err := filepath.Glob(filepath.Join(dir, "*partial*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	foreign := must((&shimtest.Device{}).NewLibrary(t.Context(), metalshim.Source{Name: "Add"}))(t)
	defer foreign.Release()
	if _, err := x.NewPipeline(t.Context(), foreign, "a", nil); err == nil || !strings.Contains(err.Error(), "another device") {
		t.Errorf("a library of another driver: %v", err)
	}
	if d.Archives() != 1 {
		t.Errorf("%d archives", d.Archives())
	}
}
