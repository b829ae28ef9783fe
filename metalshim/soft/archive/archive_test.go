package archive

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/introgen/introgen/metalshim/soft/cache"
)

var here = Origin{Driver: "soft", Compiler: "clang 19.1.7", CompilerID: "c1", Processor: "p", ProcessorID: "p1", Steps: "s1"}

func opened(t *testing.T, path string, o Origin) *File {
	t.Helper()
	f, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// get is an entry's payload and meta, joined, or "" and why there is none.
func get(f *File, kind, key string) (text, why string) {
	payload, meta, why := f.Get(kind, cache.KeyOf(key))
	return strings.Trim(string(payload)+"|"+string(meta), "|"), why
}

// written makes an archive of three entries.
func written(t *testing.T, path string) []byte {
	t.Helper()
	f := opened(t, path, here)
	f.Put("library", cache.KeyOf("a"), []byte("code of a"), []byte("meta of a"))
	f.Put("pipeline", cache.KeyOf("b"), []byte("code of b"), nil)
	f.Put("pipeline", cache.KeyOf("c"), nil, []byte("meta of c"))
	if err := f.Save(); err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestWrittenAndOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	f := opened(t, path, here)
	if _, why := get(f, "library", "a"); why != "it is new" || f.Replaced() != "" {
		t.Errorf("a new one: %q, replaced %q", why, f.Replaced())
	}
	if err := f.Save(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was written for nothing: %v", err)
	}
	first := written(t, path)
	if is, _ := os.Stat(path); is.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", is.Mode())
	}
	f = opened(t, path, here)
	for _, e := range []struct{ kind, key, want, why string }{
		{"library", "a", "code of a|meta of a", ""}, {"pipeline", "b", "code of b", ""}, {"pipeline", "c", "meta of c", ""},
		{"pipeline", "a", "", "not in it"}, {"library", "d", "", "not in it"},
	} {
		if text, why := get(f, e.kind, e.key); text != e.want || why != e.why {
			t.Errorf("%s %s: %q, %q, want %q, %q", e.kind, e.key, text, why, e.want, e.why)
		}
	}
	if err := f.Save(); err != nil {
		t.Fatal(err)
	}
	if again, _ := os.ReadFile(path); !bytes.Equal(again, first) {
		t.Error("a file to which nothing was added has changed")
	}
	f.Put("library", cache.KeyOf("d"), []byte("code of d"), nil)
	if err := f.Save(); err != nil {
		t.Fatal(err)
	}
	f = opened(t, path, here)
	for _, e := range [][2]string{{"library", "a"}, {"pipeline", "b"}, {"pipeline", "c"}, {"library", "d"}} {
		if _, why := get(f, e[0], e[1]); why != "" {
			t.Errorf("%v after one was added: %s", e, why)
		}
	}
}

// Whichever byte of a file is another one, an entry is what it was, or not given.
func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	whole := written(t, path)
	want := map[string]string{"library a": "code of a|meta of a", "pipeline b": "code of b", "pipeline c": "meta of c"}
	look := func(what string) (given int) {
		t.Helper()
		f, err := Open(path, here)
		if err != nil {
			if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "no archive") {
				t.Errorf("%s: %v", what, err)
			}
			return -1
		}
		for at, text := range want {
			kind, key, _ := strings.Cut(at, " ")
			switch got, why := get(f, kind, key); {
			case why == "" && got == text:
				given++
			case why == "":
				t.Errorf("%s: %s is %q", what, at, got)
			case !strings.Contains(why, "offset") && !strings.Contains(why, "another"):
				t.Errorf("%s: %s is not given: %q", what, at, why)
			}
		}
		return given
	}
	part, none, foreign := 0, 0, 0
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 0x10
		write(t, path, b)
		switch given := look(fmt.Sprintf("byte %d changed", i)); given {
		case 2:
			part++
		case 0:
			none++
		case -1:
			foreign++
		default:
			t.Errorf("byte %d changed: %d entries are given", i, given)
		}
	}
	if contents := len("code of ameta of acode of bmeta of c"); part != contents || foreign != len(magic) || none != len(whole)-part-foreign {
		t.Errorf("of %d bytes %d cost an entry, %d all, and %d the name of an archive", len(whole), part, none, foreign)
	}
	for n := range len(whole) {
		write(t, path, whole[:n])
		if given := look(fmt.Sprintf("cut to %d bytes", n)); given != 0 {
			t.Errorf("cut to %d bytes: %d entries are given", n, given)
		}
	}
	write(t, path, append(bytes.Clone(whole), 0))
	if given := look("a byte more"); given != 0 {
		t.Errorf("a byte more: %d entries are given", given)
	}
	// It is replaced, and has then what was put.
	f := opened(t, path, here)
	if !strings.Contains(f.Replaced(), "damaged: it ends at offset") {
		t.Errorf("replaced: %q", f.Replaced())
	}
	f.Put("library", cache.KeyOf("a"), []byte("new"), nil)
	if err := f.Save(); err != nil {
		t.Fatal(err)
	}
	if text, why := get(opened(t, path, here), "library", "a"); text != "new" || why != "" {
		t.Errorf("%q, %q", text, why)
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A damaged entry is made again, and the others stay.
func TestDamagedEntryReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	whole := written(t, path)
	write(t, path, bytes.Replace(whole, []byte("code of b"), []byte("code of x"), 1))
	f := opened(t, path, here)
	if _, why := get(f, "pipeline", "b"); !strings.Contains(why, "damaged: the digest of its pipeline at offset") {
		t.Errorf("why: %q", why)
	}
	f.Put("pipeline", cache.KeyOf("b"), []byte("code of b"), nil)
	if err := f.Save(); err != nil {
		t.Fatal(err)
	}
	f = opened(t, path, here)
	for _, e := range [][2]string{{"library", "a"}, {"pipeline", "b"}, {"pipeline", "c"}} {
		if _, why := get(f, e[0], e[1]); why != "" {
			t.Errorf("%v: %s", e, why)
		}
	}
}

func TestMadeOtherwise(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	written(t, path)
	for _, c := range []struct {
		change func(*Origin)
		why    string
	}{
		{func(o *Origin) { o.Compiler, o.CompilerID = "clang 19.1.0", "c2" }, `of another compiler: "clang 19.1.7", and not "clang 19.1.0"`},
		{func(o *Origin) { o.CompilerID = "c2" }, `of another compiler of the same name, "clang 19.1.7"`},
		{func(o *Origin) { o.Processor, o.ProcessorID = "q", "p2" }, `of another processor: "p", and not "q"`},
		{func(o *Origin) { o.Steps = "s2" }, "of another version of introgen, which made code in other steps"},
		{func(o *Origin) { o.Driver = "other" }, `of another driver: "soft", and not "other"`},
	} {
		o := here
		c.change(&o)
		f := opened(t, path, o)
		if _, why := get(f, "library", "a"); why != c.why || f.Replaced() != c.why {
			t.Errorf("%q, replaced %q, want %q", why, f.Replaced(), c.why)
		}
	}
	o := here
	o.CompilerID = "c2"
	f := opened(t, path, o)
	f.Put("library", cache.KeyOf("a"), []byte("by c2"), nil)
	if err := f.Save(); err != nil {
		t.Fatal(err)
	}
	f = opened(t, path, o)
	if text, why := get(f, "library", "a"); text != "by c2" || why != "" {
		t.Errorf("%q, %q", text, why)
	}
	if _, why := get(f, "pipeline", "b"); why != "not in it" {
		t.Errorf("what the other compiler made is kept: %q", why)
	}
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	text := at("text")
	write(t, text, []byte("somebody's letters"))
	group := at("group")
	written(t, group)
	if err := errors.Join(os.Chmod(group, 0o660), os.Symlink(text, at("link")), syscall.Mkfifo(at("pipe"), 0o600), os.Mkdir(at("folder"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		text: "it is no archive of introgen's", group: "others may write to it (mode 0660)", at("link"): "it is a symbolic link",
		at("pipe"): "it is no regular file", at("folder"): "it is no regular file", at("absent/a"): "make its folder first",
		"/dev/full": "it is no regular file", filepath.Join(text, "a"): "not a directory",
	} {
		if f, err := Open(path, here); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, %v, want %q", path, f, err, want)
		}
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(group, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(group, here); err == nil || !strings.Contains(err.Error(), "belongs to user 12345") {
			t.Errorf("somebody else's: %v", err)
		}
	}
	if b, _ := os.ReadFile(text); string(b) != "somebody's letters" {
		t.Error("what was no archive has changed")
	}
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	whole := written(t, path)
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	f := opened(t, path, here)
	if _, why := get(f, "library", "a"); why != "" {
		t.Error(why)
	}
	if err := f.Save(); err != nil {
		t.Errorf("nothing was added: %v", err)
	}
	f.Put("library", cache.KeyOf("d"), nil, nil)
	if err := f.Save(); !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), "1 entries") {
		t.Errorf("%v", err)
	}
	if b, _ := os.ReadFile(path); !bytes.Equal(b, whole) {
		t.Error("it has changed")
	}
}

// What cannot be written leaves the file as it was, and nothing beside it.
func TestNotWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	f := opened(t, path, here)
	f.Put("library", cache.KeyOf("a"), []byte("x"), nil)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := f.Save(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("over a folder: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

// Of many that write one archive at once none loses what another has written
// before, and whoever opens it meanwhile finds a whole one.
func TestWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	written(t, path)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 20 {
				f, err := Open(path, here)
				if err != nil || f.Why() != "" {
					t.Errorf("%v, %q", err, f.Why())
					return
				}
				if text, why := get(f, "library", "a"); text != "code of a|meta of a" {
					t.Errorf("%q, %q", text, why)
				}
				f.Put("library", cache.KeyOf("w", fmt.Sprint(w, i)), []byte{byte(w), byte(i)}, nil)
				if err := f.Save(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	one, two := opened(t, path, here), opened(t, path, here)
	one.Put("library", cache.KeyOf("one"), nil, nil)
	two.Put("library", cache.KeyOf("two"), nil, nil)
	if err := errors.Join(one.Save(), two.Save()); err != nil {
		t.Fatal(err)
	}
	f := opened(t, path, here)
	for _, key := range []string{"one", "two"} {
		if _, why := get(f, "library", key); why != "" {
			t.Errorf("%s: %s", key, why)
		}
	}
}

// What does not fit is left out, and what this run used is what stays.
func TestBounded(t *testing.T) {
	b := newBuilder(here)
	for i := range maxEntries + 5 {
		b.add(id{"library", cache.KeyOf(fmt.Sprint(i))}, content{})
	}
	r, err := parse(b.bytes())
	if err != nil || len(r.entries) != maxEntries {
		t.Errorf("%d entries, %v", len(r.entries), err)
	}
	b = newBuilder(here)
	b.add(id{"library", cache.KeyOf("big")}, content{payload: make([]byte, maxFile)})
	b.add(id{"library", cache.KeyOf("small")}, content{payload: []byte("x")})
	if len(b.order) != 1 || b.order[0].key != cache.KeyOf("small") {
		t.Errorf("%d entries", len(b.order))
	}
}

func FuzzParse(f *testing.F) {
	b := newBuilder(here)
	b.add(id{"library", cache.KeyOf("a")}, content{[]byte("code"), []byte("meta")})
	f.Add(b.bytes())
	f.Add([]byte{})
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, all []byte) {
		r, err := parse(all)
		if err != nil {
			return
		}
		b := &builder{of: map[id]content{}}
		for _, at := range r.order {
			c, err := r.content(at, r.entries[at])
			if err != nil {
				return
			}
			b.add(at, c)
		}
		size := uint32(all[20]) | uint32(all[21])<<8 | uint32(all[22])<<16 | uint32(all[23])<<24
		b.origin = all[24 : 24+size]
		if !bytes.Equal(b.bytes(), all) {
			t.Error("accepted what no builder makes")
		}
	})
}
