package apple

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/trace/names"
)

// fromArchive makes a pipeline by the archive at path, saves that, and says what the
// pipeline's evidence is.
func fromArchive(t *testing.T, d *Device, path, function string) metalshim.Evidence {
	t.Helper()
	x := must(d.NewArchive(path))(t)
	defer x.Release()
	l := must(x.NewLibrary(t.Context(), metalshim.Source{Name: "Add", Text: addSource}))(t)
	defer l.Release()
	if e := l.Evidence(); e.State != names.CacheUnknown || !strings.Contains(e.Archive, "holds pipelines alone") {
		t.Errorf("the library: %+v", e)
	}
	p := must(l.NewPipeline(t.Context(), function, nil))(t)
	defer p.Release()
	if err := x.Save(); err != nil {
		t.Error(err)
	}
	return p.Evidence()
}

// expect holds evidence to why an archive did not give it; "" is that it did.
func expect(t *testing.T, when string, e metalshim.Evidence, why string) {
	t.Helper()
	state := names.CacheUnknown
	if why == "" {
		state = names.CacheArchive
	}
	if e.State != state || e.Note != "" || (why == "") != (e.Archive == "") || !strings.Contains(e.Archive, why) {
		t.Errorf("%s: %+v, want %q", when, e, why)
	}
}

func TestArchive(t *testing.T) {
	var notes []string
	d := open(t, Options{Note: func(_, text string) { notes = append(notes, text) }})
	path := filepath.Join(t.TempDir(), "pipelines.metalar")
	expect(t, "written", fromArchive(t, d, path, "add"), "it is new")
	expect(t, "opened", fromArchive(t, d, path, "add"), "")
	expect(t, "another pipeline", fromArchive(t, d, path, "through"), "not in it")
	expect(t, "that one again", fromArchive(t, d, path, "through"), "")
	expect(t, "the first again", fromArchive(t, d, path, "add"), "")
	for _, file := range []string{path, path + originSuffix} {
		if is, err := os.Stat(file); err != nil || is.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", file, err)
		}
	}
	x := must(d.NewArchive(path))(t)
	l := must(x.NewLibrary(t.Context(), metalshim.Source{Name: "Add", Text: addSource}))(t)
	if _, err := l.NewPipeline(t.Context(), "none", nil); err == nil {
		t.Error("an absent function is found")
	}
	if n := d.Live().Archives; n != 1 {
		t.Errorf("%d archives", n)
	}
	x.Release()
	x.Release()
	p := must(l.NewPipeline(t.Context(), "add", nil))(t)
	if e := p.Evidence(); e.State != names.CacheUnknown || !strings.Contains(e.Archive, "released") {
		t.Errorf("after the archive's release: %+v", e)
	}
	p.Release()
	l.Release()
	if _, err := x.NewLibrary(t.Context(), metalshim.Source{Name: "Add", Text: addSource}); !errors.Is(err, metalshim.ErrReleased) {
		t.Errorf("released: %v", err)
	}
	if err := x.Save(); !errors.Is(err, metalshim.ErrReleased) {
		t.Errorf("save of a released one: %v", err)
	}
	if len(notes) > 0 {
		t.Errorf("notes: %q", notes)
	}
}

// An archive of which a byte is another, or whose end is missing, is not shown to
// the system, is told of and replaced.
func TestArchiveDamaged(t *testing.T) {
	var notes []string
	d := open(t, Options{Note: func(_, text string) { notes = append(notes, text) }})
	path := filepath.Join(t.TempDir(), "a")
	fromArchive(t, d, path, "add")
	for _, file := range []string{path, path + originSuffix} {
		whole := must(os.ReadFile(file))(t)
		step := max(1, len(whole)/400) // on a Mac it is large
		for i := 0; i < len(whole); i += step {
			b := bytes.Clone(whole)
			b[i] ^= 0x10
			look(t, d, file, path, b, fmt.Sprintf("byte %d is another", i))
		}
		for n := 0; n < len(whole); n += 7 * step {
			look(t, d, file, path, whole[:n], fmt.Sprintf("cut to %d bytes", n))
		}
		if err := os.WriteFile(file, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, "as it was", fromArchive(t, d, path, "add"), "")
	if err := os.WriteFile(path, []byte("something"), 0o600); err != nil {
		t.Fatal(err)
	}
	notes = nil
	expect(t, "damaged", fromArchive(t, d, path, "add"), "damaged: its digest")
	expect(t, "replaced", fromArchive(t, d, path, "add"), "")
	if len(notes) != 1 || !strings.Contains(notes[0], path+" gives nothing and will be replaced: damaged") {
		t.Errorf("notes: %q", notes)
	}
}

// look opens the archive at path with other content in file: it gives nothing, and
// says why.
func look(t *testing.T, d *Device, file, path string, content []byte, what string) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	x := must(d.NewArchive(path))(t)
	defer x.Release()
	if why := x.(*archive).why; !strings.Contains(why, "damaged") && !strings.Contains(why, "of another") {
		t.Errorf("%s: %s: it is not found damaged: %q", filepath.Base(file), what, why)
	}
}

// After an update of the system, or on another machine, an archive gives nothing;
// the system itself may refuse one too.
func TestArchiveOfAnotherSystem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	for _, c := range []struct {
		name string
		o    standin.Options
		why  string
	}{
		{"written", standin.Options{}, "it is new"},
		{"after an update", standin.Options{Version: [3]int64{15, 2, 0}}, "of another system: macOS 15.1.0 (24B83), and not macOS 15.2.0 (24B83)"},
		{"there again", standin.Options{Version: [3]int64{15, 2, 0}}, ""},
		{"on another device", standin.Options{Version: [3]int64{15, 2, 0}, Name: "Apple M9", Architecture: "applegpu_g99"}, "and not Apple M9 (applegpu_g99)"},
		{"there again", standin.Options{Version: [3]int64{15, 2, 0}, Name: "Apple M9", Architecture: "applegpu_g99"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, c.name, fromArchive(t, shown(t, c.o, Options{}), path, "add"), c.why)
		})
	}
	t.Run("refused", func(t *testing.T) {
		o := at(standin.AtArchive, 1, standin.OtherSystem)
		o.Version, o.Name, o.Architecture = [3]int64{15, 2, 0}, "Apple M9", "applegpu_g99"
		expect(t, "refused", fromArchive(t, shown(t, o, Options{}), path, "add"), "the system refuses it: ")
	})
}

func TestArchiveFaults(t *testing.T) {
	var notes []string
	d := open(t, Options{Note: func(_, text string) { notes = append(notes, text) }})
	l := compile(t, d)
	defer l.Release()
	if e := l.Evidence(); e != (metalshim.Evidence{}) {
		t.Errorf("a library that Metal says nothing of: %+v", e)
	}
	dir := t.TempDir()
	// One without an origin may be anything.
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
	for _, bad := range []string{dir, "/dev/null"} {
		if _, err := d.NewArchive(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	begun := func(path string) metalshim.Archive {
		x := must(d.NewArchive(path))(t)
		l := must(x.NewLibrary(t.Context(), metalshim.Source{Name: "Add", Text: addSource}))(t)
		must(l.NewPipeline(t.Context(), "add", nil))(t).Release()
		l.Release()
		return x
	}
	x := begun(filepath.Join(dir, "absent", "archive"))
	defer x.Release()
	if err := x.Save(); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("saved in a folder that is not there: %v", err)
	}
	taken := filepath.Join(dir, "taken")
	y := begun(taken)
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
	if n := d.Live().Archives; n != 1 {
		t.Errorf("%d archives", n)
	}
	kept := filepath.Join(dir, "kept")
	fromArchive(t, d, kept, "add")
	if err := os.Chmod(kept, 0o400); err != nil {
		t.Fatal(err)
	}
	whole := must(os.ReadFile(kept))(t)
	expect(t, "read-only", fromArchive(t, d, kept, "through"), "not in it")
	if now := must(os.ReadFile(kept))(t); !bytes.Equal(now, whole) || len(notes) != 1 || !strings.Contains(notes[0], "read-only (mode 0400), so 1 pipelines") {
		t.Errorf("a read-only one has changed, or nothing was told: %q", notes)
	}
	if err := os.Chmod(kept, 0o622); err != nil {
		t.Fatal(err)
	}
	if _, err := d.NewArchive(kept); err == nil || !strings.Contains(err.Error(), "others may write to it") {
		t.Errorf("one that others may write: %v", err)
	}
}

// Where other things are compiled at the same time, an archive gives what it gives.
func TestArchiveShared(t *testing.T) {
	if runtime.GOOS == "darwin" && testing.Short() {
		t.Skip("SKIP: needs some seconds")
	}
	d := open(t, Options{})
	path := filepath.Join(t.TempDir(), "a")
	for _, state := range []string{names.CacheUnknown, names.CacheArchive} {
		x := must(d.NewArchive(path))(t)
		results := make(chan error, 9)
		for i := range cap(results) {
			go func() {
				results <- func() error {
					l, err := x.NewLibrary(t.Context(), metalshim.Source{Name: "Add", Text: addSource + fmt.Sprintf("// %d\n", i%3)})
					if err != nil {
						return err
					}
					defer l.Release()
					p, err := l.NewPipeline(t.Context(), "add", nil)
					if err != nil {
						return err
					}
					defer p.Release()
					if got := p.Evidence().State; state == names.CacheArchive && got != state {
						return fmt.Errorf("it came from %q", got)
					}
					return nil
				}()
			}()
		}
		for range cap(results) {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		if err := x.Save(); err != nil {
			t.Error(err)
		}
		x.Release()
	}
}
