package soft

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/trace/names"
)

func archiveAt(t testing.TB, d *Device, path string) metalshim.Archive {
	t.Helper()
	a, err := d.NewArchive(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Release)
	return a
}

// fromArchive compiles tiny with the archive at path, saves that, and says where the
// library and the pipeline came from. It fails if the kernel does not do what it says.
func fromArchive(t testing.TB, d *Device, path, text string) (lib, pipe metalshim.Evidence) {
	t.Helper()
	a := archiveAt(t, d, path)
	lib, pipe = statesFrom(t, d, a.NewLibrary, text)
	if err := a.Save(); err != nil {
		t.Fatal(err)
	}
	a.Release()
	return lib, pipe
}

// expect holds both to a state and to why the archive did not give them.
func expect(t testing.TB, when string, lib, pipe metalshim.Evidence, state, why string) {
	t.Helper()
	for _, e := range []metalshim.Evidence{lib, pipe} {
		if e.State != state || e.Archive != why && (why == "" || !strings.Contains(e.Archive, why)) || e.Bytes == 0 || e.Key == "" {
			t.Errorf("%s: %+v, want %s, %q", when, e, state, why)
		}
	}
}

func TestArchive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.archive")
	var notes []string
	o := Options{CacheDir: filepath.Join(t.TempDir(), "cache"), Workers: 1, Note: func(_, s string) { notes = append(notes, s) }}
	other := Options{CacheDir: filepath.Join(t.TempDir(), "another"), Workers: 1}
	d := openAt(t, o)
	lib, pipe := fromArchive(t, d, path, tiny)
	expect(t, "written", lib, pipe, names.CacheMiss, "it is new")
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	lib, pipe = fromArchive(t, openAt(t, other), path, tiny)
	expect(t, "opened where the cache is empty", lib, pipe, names.CacheArchive, "")
	lib, pipe = fromArchive(t, d, path, tiny)
	expect(t, "opened where the cache has it too", lib, pipe, names.CacheArchive, "")
	lib, pipe = fromArchive(t, d, path, tiny+"// nonce\n")
	expect(t, "another source", lib, pipe, names.CacheMiss, "not in it")
	lib, pipe = states(t, d, tiny)
	expect(t, "without it", lib, pipe, names.CacheHit, "")
	lib, pipe = fromArchive(t, d, filepath.Join(t.TempDir(), "b"), tiny)
	expect(t, "begun from the cache", lib, pipe, names.CacheHit, "it is new")
	if len(notes) != 0 {
		t.Errorf("notes: %q", notes)
	}
	if n := d.Live(); n.Archives != 0 || n.Libraries != 0 {
		t.Errorf("live: %+v", n)
	}
}

// What was changed in an archive costs at most a compile.
func TestArchiveDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.archive")
	var notes []string
	d := openAt(t, Options{CacheDir: filepath.Join(t.TempDir(), "cache"), Workers: 1, Note: func(_, s string) { notes = append(notes, s) }})
	fromArchive(t, d, path, tiny)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	put := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	none, part := 0, 0
	step := max(1, len(whole)/400)
	for i := len("introgen archive"); i < len(whole); i += step {
		b := bytes.Clone(whole)
		b[i] ^= 4
		put(b)
		a := archiveAt(t, d, path)
		lib, pipe := statesFrom(t, d, a.NewLibrary, tiny)
		a.Release()
		switch {
		case lib.State != pipe.State:
			part++
		case lib.State == names.CacheArchive:
			t.Errorf("byte %d of %d is another, and nothing was compiled", i, len(whole))
		default:
			none++
		}
	}
	if none == 0 || part == 0 {
		t.Errorf("%d changes cost all, %d an entry", none, part)
	}
	put(whole[:len(whole)/2])
	notes = nil
	lib, pipe := fromArchive(t, d, path, tiny)
	expect(t, "cut", lib, pipe, names.CacheHit, "damaged: its entry")
	if len(notes) != 1 || !strings.Contains(notes[0], path) || !strings.Contains(notes[0], "offset") || !strings.Contains(notes[0], "will be replaced") {
		t.Errorf("notes: %q", notes)
	}
	lib, pipe = fromArchive(t, d, path, tiny)
	expect(t, "replaced", lib, pipe, names.CacheArchive, "")
	put([]byte("a letter to somebody"))
	if _, err := d.NewArchive(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("what is no archive: %v", err)
	}
}

// An archive of another compiler or processor gives nothing, whose kernels run all
// the same, and is replaced.
func TestArchiveMadeElsewhere(t *testing.T) {
	o := Options{CacheDir: filepath.Join(t.TempDir(), "cache"), Workers: 1}
	path := filepath.Join(t.TempDir(), "a.archive")
	d := openAt(t, o)
	fromArchive(t, d, path, tiny)

	if elsewhere := Processors(); len(elsewhere) > 1 {
		t.Setenv(EnvProcessor, elsewhere[0])
		lib, pipe := fromArchive(t, openAt(t, o), path, tiny)
		t.Setenv(EnvProcessor, "")
		if !strings.HasSuffix(lib.Archive, fmt.Sprintf("and not %q", elsewhere[0])) || lib.Archive != pipe.Archive || pipe.State != names.CacheMiss {
			t.Errorf("for %s: %+v, %+v", elsewhere[0], lib, pipe)
		}
		lib, pipe = fromArchive(t, d, path, tiny)
		expect(t, "here again", lib, pipe, names.CacheHit, fmt.Sprintf("of another processor: %q, and not", elsewhere[0]))
	}
	wrapper(t, "true") // a script that runs the same clang
	lib, pipe := fromArchive(t, openAt(t, o), path, tiny)
	expect(t, "of another compiler", lib, pipe, names.CacheMiss, "of another compiler of the same name, \"clang ")
	t.Setenv(clang.EnvPath, "")
	lib, pipe = fromArchive(t, d, path, tiny)
	expect(t, "of the first again", lib, pipe, names.CacheHit, "of another compiler")

	home, _ := os.UserCacheDir()
	zigs, _ := filepath.Glob(filepath.Join(home, "introgen", "ziglang-*", "lib", "python*", "site-packages", "ziglang", "zig"))
	if len(zigs) == 0 {
		t.Skip("SKIP: needs the clang of ziglang, which make setup brings where no other is")
	}
	t.Setenv(clang.EnvPath, zigs[0])
	lib, pipe = fromArchive(t, openAt(t, o), path, tiny)
	expect(t, "of clang, opened by zig", lib, pipe, names.CacheMiss, "of another compiler")
}

// Several processes that write one archive leave a whole one.
func TestArchiveWriters(t *testing.T) {
	if path := os.Getenv("ARCHIVE_TEST_PATH"); path != "" {
		d := openAt(t, Options{CacheDir: os.Getenv("ARCHIVE_TEST_CACHE"), Workers: 1})
		for i := range 3 {
			a := archiveAt(t, d, path)
			statesFrom(t, d, a.NewLibrary, tiny+fmt.Sprintf("// %d\n", i))
			if err := a.Save(); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	path, dir := filepath.Join(t.TempDir(), "a.archive"), filepath.Join(t.TempDir(), "cache")
	d := openAt(t, Options{CacheDir: dir, Workers: 1})
	var children []*exec.Cmd
	for range 3 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestArchiveWriters$")
		cmd.Env = append(os.Environ(), "ARCHIVE_TEST_PATH="+path, "ARCHIVE_TEST_CACHE="+dir)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, cmd)
	}
	for _, cmd := range children {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	lib, pipe := fromArchive(t, d, path, tiny+"// 2\n")
	expect(t, "the last of each", lib, pipe, names.CacheArchive, "")
}

// One archive serves several goroutines.
func TestArchiveShared(t *testing.T) {
	d := testDevice(t)
	path := filepath.Join(t.TempDir(), "a.archive")
	for _, state := range []string{names.CacheMiss, names.CacheArchive} {
		a := archiveAt(t, d, path)
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				l, err := a.NewLibrary(t.Context(), metalshim.Source{Name: "tiny", Text: tiny + fmt.Sprintf("// shared %d\n", i%3)})
				if err != nil {
					t.Error(err)
					return
				}
				defer l.Release()
				p, err := l.NewPipeline(t.Context(), "seven", nil)
				if err != nil {
					t.Error(err)
					return
				}
				if got := p.Evidence().State; state == names.CacheArchive && got != state {
					t.Errorf("it came from %q", got)
				}
				p.Release()
			})
		}
		wg.Wait()
		if err := a.Save(); err != nil {
			t.Fatal(err)
		}
		a.Release()
	}
}

func TestArchiveNotWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.archive")
	var notes []string
	d := openAt(t, Options{CacheDir: filepath.Join(t.TempDir(), "cache"), Workers: 1, Note: func(_, s string) { notes = append(notes, s) }})
	fromArchive(t, d, path, tiny)
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	lib, pipe := fromArchive(t, d, path, tiny)
	expect(t, "read-only", lib, pipe, names.CacheArchive, "")
	fromArchive(t, d, path, tiny+"// more\n")
	if len(notes) != 1 || !strings.Contains(notes[0], "it is read-only (mode 0400), so 2 entries") {
		t.Errorf("notes: %q", notes)
	}
	for _, bad := range []string{dir, "/dev/full", filepath.Join(dir, "absent", "a")} {
		if _, err := d.NewArchive(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	gone := filepath.Join(dir, "gone")
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	a := archiveAt(t, d, filepath.Join(gone, "a"))
	statesFrom(t, d, a.NewLibrary, tiny)
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	if err := a.Save(); err == nil || !strings.Contains(err.Error(), gone) {
		t.Errorf("its folder is gone: %v", err)
	}
	l, err := a.NewLibrary(context.Background(), metalshim.Source{Name: "tiny", Text: tiny})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	a.Release()
	a.Release()
	if err := a.Save(); !errors.Is(err, metalshim.ErrReleased) {
		t.Errorf("saved after its release: %v", err)
	}
	if _, err := a.NewLibrary(context.Background(), metalshim.Source{Name: "tiny", Text: tiny}); !errors.Is(err, metalshim.ErrReleased) {
		t.Errorf("asked after its release: %v", err)
	}
	p, err := l.NewPipeline(context.Background(), "seven", nil)
	if err != nil {
		t.Fatalf("a library outlives its archive: %v", err)
	}
	p.Release()
	if n := d.Live().Archives; n != 0 {
		t.Errorf("%d archives are left", n)
	}
	kept := openAt(t, Options{CacheDir: t.TempDir(), Workers: 1, Keep: filepath.Join(dir, "kept")})
	if _, err := kept.NewArchive(path); err == nil || !strings.Contains(err.Error(), "left aside") {
		t.Errorf("beside a folder for what is generated: %v", err)
	}
}
