//go:build unix

package cache

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
	"syscall"
	"testing"
	"time"
)

func newCache(t *testing.T, limit int64) *Cache {
	t.Helper()
	c, err := Open(filepath.Join(t.TempDir(), "cache"), limit)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestKeyOf(t *testing.T) {
	if KeyOf("ab", "c") == KeyOf("a", "bc") || KeyOf("a") == KeyOf("a", "") {
		t.Error("different lists have one key")
	}
	if one, two := KeyOf("a", "b"), KeyOf("a", "b"); one != two {
		t.Error("the same list has two keys")
	}
}

func TestPutGet(t *testing.T) {
	c := newCache(t, 0)
	k := KeyOf("source")
	if _, err := c.Get("library", k); !errors.Is(err, ErrMiss) {
		t.Errorf("empty: %v", err)
	}
	for _, payload := range [][]byte{[]byte("code"), {}, bytes.Repeat([]byte{7}, 1<<20)} {
		if err := c.Put("library", k, payload, []byte("meta")); err != nil {
			t.Fatal(err)
		}
		e, err := c.Get("library", k)
		if err != nil || !bytes.Equal(e.Payload, payload) || string(e.Meta) != "meta" {
			t.Fatalf("%d bytes: got %v, %v", len(payload), e, err)
		}
	}
	if _, err := c.Get("pipeline", k); !errors.Is(err, ErrMiss) {
		t.Errorf("another kind: %v", err)
	}
	if err := c.Remove("library", k); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get("library", k); !errors.Is(err, ErrMiss) {
		t.Errorf("removed: %v", err)
	}
}

// Whatever is wrong with an entry's file, it is not used.
func TestDamage(t *testing.T) {
	c := newCache(t, 0)
	k := KeyOf("x")
	path := c.path("pipeline", k)
	if err := c.Put("pipeline", k, []byte("payload"), []byte("meta")); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range whole { // every single byte counts
		b := bytes.Clone(whole)
		b[i] ^= 0x10
		write(b)
		if _, err := c.Get("pipeline", k); !errors.Is(err, ErrDamaged) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
	for n := range len(whole) {
		write(whole[:n])
		if _, err := c.Get("pipeline", k); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
	write(append(bytes.Clone(whole), 0))
	if _, err := c.Get("pipeline", k); !errors.Is(err, ErrDamaged) {
		t.Errorf("one byte more: %v", err)
	}
	write(whole)
	if err := os.Rename(path, c.path("pipeline", KeyOf("y"))); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get("pipeline", KeyOf("y")); !errors.Is(err, ErrDamaged) {
		t.Errorf("the entry of another key: %v", err)
	}
}

func TestPrivateFiles(t *testing.T) {
	c := newCache(t, 0)
	k := KeyOf("x")
	path := c.path("library", k)
	if err := c.Put("library", k, []byte("p"), nil); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode().Perm())
	}
	os.Chmod(path, 0o620)
	if _, err := c.Get("library", k); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "others may write to it (mode 0620)") {
		t.Errorf("writable by the group: %v", err)
	}
	os.Chmod(path, 0o600)
	moved := filepath.Join(filepath.Dir(path), "elsewhere")
	os.Rename(path, moved)
	os.Symlink(moved, path)
	if _, err := c.Get("library", k); !errors.Is(err, ErrDamaged) {
		t.Errorf("a symbolic link: %v", err)
	}
	os.Remove(path)
	if err := syscall.Mkfifo(path, 0o600); err == nil {
		if _, err := c.Get("library", k); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("a pipe: %v", err)
		}
	}
}

func TestPrivateFolder(t *testing.T) {
	dir := t.TempDir()
	for _, mode := range []os.FileMode{0o720, 0o702, 0o777} {
		at := filepath.Join(dir, fmt.Sprintf("%o", mode))
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
		os.Chmod(at, mode)
		if _, err := Open(at, 0); err == nil || !strings.Contains(err.Error(), "others may write to it") || !strings.Contains(err.Error(), Env) {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	open := filepath.Join(dir, "open")
	os.Mkdir(open, 0o700)
	os.Chmod(open, 0o777)
	if _, err := Open(filepath.Join(open, "cache"), 0); err == nil || !strings.Contains(err.Error(), "anybody may write to") {
		t.Errorf("below a folder that anybody may change: %v", err)
	}
	os.Chmod(open, 0o777|os.ModeSticky)
	if _, err := Open(filepath.Join(open, "cache"), 0); err != nil {
		t.Errorf("below a sticky folder: %v", err)
	}
	if os.Geteuid() == 0 {
		other := filepath.Join(dir, "other")
		os.Mkdir(other, 0o700)
		os.Chown(other, 12345, 12345)
		if _, err := Open(other, 0); err == nil || !strings.Contains(err.Error(), "belongs to user 12345") {
			t.Errorf("somebody else's folder: %v", err)
		}
	}
	file := filepath.Join(dir, "file")
	os.WriteFile(file, nil, 0o600)
	if _, err := Open(file, 0); err == nil {
		t.Error("a file in the folder's place is accepted")
	}
}

func TestLimit(t *testing.T) {
	c := newCache(t, 3000)
	var keys []Key
	for i := range 4 {
		k := KeyOf(fmt.Sprint(i))
		keys = append(keys, k)
		path := c.path("library", k)
		if err := c.Put("library", k, make([]byte, 900), nil); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(time.Duration(i-100) * time.Minute)
		os.Chtimes(path, when, when)
		if i == 2 { // the first is used again: it is not the oldest any more
			if _, err := c.Get("library", keys[0]); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, want := range []bool{true, false, true, true} {
		if _, err := c.Get("library", keys[i]); (err == nil) != want {
			t.Errorf("entry %d: %v, want it there: %t", i, err, want)
		}
	}
	if s, err := c.Status(); err != nil || s.Bytes > 3000 || len(s.Items) != 3 {
		t.Errorf("status %+v, %v", s, err)
	}
	// One entry above the limit by itself is kept: it is in use.
	if err := c.Put("library", KeyOf("big"), make([]byte, 5000), nil); err != nil {
		t.Fatal(err)
	}
	if s, _ := c.Status(); len(s.Items) != 1 {
		t.Errorf("%d entries beside a big one", len(s.Items)-1)
	}
}

// TestLimitOfSeveral: the limit holds for what several write, but for the slack
// of each, and what was written last is there.
func TestLimitOfSeveral(t *testing.T) {
	const limit = 32000
	one := newCache(t, limit)
	two, err := Open(one.Dir(), limit)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 400 {
		k := KeyOf(fmt.Sprint(i))
		c := []*Cache{one, two}[i%2]
		if err := c.Put("library", k, make([]byte, 100), nil); err != nil {
			t.Fatal(err)
		}
		s, err := c.Status()
		if err != nil || s.Bytes > limit+2*limit/32 {
			t.Fatalf("after %d entries there are %d bytes (%v), the limit is %d", i+1, s.Bytes, err, limit)
		}
		if _, err := c.Get("library", k); err != nil {
			t.Fatalf("entry %d is not there: %v", i, err)
		}
	}
	if s, _ := one.Status(); s.Bytes < limit/2 {
		t.Errorf("%d bytes are left, the limit is %d", s.Bytes, limit)
	}
}

// BenchmarkPut writes into a folder of thousands of entries, as one that has
// reached its limit.
func BenchmarkPut(b *testing.B) {
	c, err := Open(filepath.Join(b.TempDir(), "cache"), 0)
	if err != nil {
		b.Fatal(err)
	}
	for i := range 5000 {
		if err := os.WriteFile(c.path("library", KeyOf("old", fmt.Sprint(i))), nil, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	n := 0
	for b.Loop() {
		n++
		if err := c.Put("library", KeyOf(fmt.Sprint(n)), make([]byte, 20000), nil); err != nil {
			b.Fatal(err)
		}
	}
}

func TestStatusAndClear(t *testing.T) {
	c := newCache(t, 0)
	for i := range 3 {
		if err := c.Put("library", KeyOf(fmt.Sprint(i)), make([]byte, 100), nil); err != nil {
			t.Fatal(err)
		}
	}
	os.WriteFile(filepath.Join(c.Dir(), "new-1.part"), nil, 0o600)
	os.WriteFile(filepath.Join(c.Dir(), "readme"), nil, 0o600)
	s, err := c.Status()
	if err != nil || len(s.Items) != 3 || s.Bytes != int64(3*(100+trailer)) || s.Items[0].Kind != "library" {
		t.Errorf("status %+v, %v", s, err)
	}
	n, bytes, err := c.Clear()
	if err != nil || n != 3 || bytes != s.Bytes {
		t.Errorf("cleared %d entries, %d bytes, %v", n, bytes, err)
	}
	left, _ := os.ReadDir(c.Dir())
	if len(left) != 1 || left[0].Name() != "readme" {
		t.Errorf("left over: %v", left)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("SKIP: needs a user who is not root, whom modes do not stop")
	}
	c := newCache(t, 0)
	k := KeyOf("x")
	if err := c.Put("library", k, []byte("p"), nil); err != nil {
		t.Fatal(err)
	}
	os.Chmod(c.Dir(), 0o500)
	defer os.Chmod(c.Dir(), 0o700)
	if _, err := c.Get("library", k); err != nil {
		t.Errorf("reading: %v", err)
	}
	if err := c.Put("library", KeyOf("y"), nil, nil); !errors.Is(err, os.ErrPermission) {
		t.Errorf("writing: %v", err)
	}
}

// Of many that want one entry at the same time, in several processes, one
// makes it.
func TestLockAcrossProcesses(t *testing.T) {
	if dir := os.Getenv("CACHE_TEST_DIR"); dir != "" {
		c, err := Open(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		makeOnce(t, c)
		return
	}
	c := newCache(t, 0)
	var children []*exec.Cmd
	for range 3 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestLockAcrossProcesses$")
		cmd.Env = append(os.Environ(), "CACHE_TEST_DIR="+c.Dir())
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, cmd)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { makeOnce(t, c) })
	}
	wg.Wait()
	for _, cmd := range children {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	made, err := os.ReadFile(filepath.Join(c.Dir(), "made"))
	if err != nil || string(made) != "." {
		t.Errorf("made %d times, %v", len(made), err)
	}
}

func makeOnce(t *testing.T, c *Cache) {
	k := KeyOf("shared")
	unlock, err := c.Lock(context.Background(), k)
	if err != nil {
		t.Error(err)
		return
	}
	defer unlock()
	if _, err := c.Get("library", k); err == nil {
		return
	}
	f, err := os.OpenFile(filepath.Join(c.Dir(), "made"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Error(err)
		return
	}
	f.WriteString(".")
	f.Close()
	time.Sleep(20 * time.Millisecond)
	if err := c.Put("library", k, []byte("p"), nil); err != nil {
		t.Error(err)
	}
}

func TestLockCancelled(t *testing.T) {
	c := newCache(t, 0)
	k := KeyOf("x")
	unlock, err := c.Lock(context.Background(), k)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Lock(ctx, k); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a held lock: %v", err)
	}
	unlock()
	again, err := c.Lock(context.Background(), k)
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func TestDir(t *testing.T) {
	t.Setenv(Env, "relative/place")
	if d, err := Dir(); err != nil || !filepath.IsAbs(d) || !strings.HasSuffix(d, "relative/place") {
		t.Errorf("%q, %v", d, err)
	}
	t.Setenv(Env, "")
	t.Setenv("HOME", "/user")
	t.Setenv("XDG_CACHE_HOME", "")
	if d, err := Dir(); err != nil || !strings.HasSuffix(d, filepath.Join("introgen", "metal")) || !strings.HasPrefix(d, "/user") {
		t.Errorf("%q, %v", d, err)
	}
}

func FuzzOpen(f *testing.F) {
	k := KeyOf("k")
	f.Add(seal([]byte("payload"), []byte("meta"), k))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		payload, meta, err := open(b, k)
		if err == nil && !bytes.Equal(seal(payload, meta, k), b) {
			t.Error("accepted what was not sealed")
		}
	})
}

// TestLimitHoldsForWhatIsThere: a cache that is opened again counts what is in its
// folder, and also what another has written since, once it exceeds the limit itself.
func TestLimitHoldsForWhatIsThere(t *testing.T) {
	c := newCache(t, 3000)
	put := func(c *Cache, name string) {
		t.Helper()
		if err := c.Put("test", KeyOf(name), make([]byte, 900), nil); err != nil {
			t.Fatal(err)
		}
	}
	put(c, "a")
	put(c, "b")
	put(c, "c")
	again, err := Open(c.Dir(), 3000)
	if err != nil {
		t.Fatal(err)
	}
	put(again, "d")
	put(c, "e")
	put(c, "f")
	entries, bytes, err := Measure(c.Dir())
	s, failed := c.Status()
	if err != nil || failed != nil || entries != 3 || bytes > 3000 || len(s.Items) != entries || s.Bytes != bytes {
		t.Errorf("%d entries of %d bytes, %v; by the list %d of %d, %v; want 3 of at most 3000", entries, bytes, err, len(s.Items), s.Bytes, failed)
	}
}

// TestMeasure: entries count, other files, folders and links do not, and no folder is
// an empty one.
func TestMeasure(t *testing.T) {
	c := newCache(t, 0)
	if err := c.Put("test", KeyOf("a"), make([]byte, 1000), nil); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(string) error{
		"lock-00":      func(p string) error { return os.WriteFile(p, []byte("x"), 0o600) },
		"folder.entry": func(p string) error { return os.Mkdir(p, 0o700) },
		"link.entry":   func(p string) error { return os.Symlink("lock-00", p) },
	} {
		if err := put(filepath.Join(c.Dir(), name)); err != nil {
			t.Fatal(err)
		}
	}
	if entries, bytes, err := Measure(c.Dir()); err != nil || entries != 1 || bytes != 1000+int64(trailer) {
		t.Errorf("%d entries of %d bytes, %v; want 1 of %d", entries, bytes, err, 1000+trailer)
	}
	if entries, bytes, err := Measure(filepath.Join(c.Dir(), "none")); err != nil || entries != 0 || bytes != 0 {
		t.Errorf("no folder: %d entries of %d bytes, %v", entries, bytes, err)
	}
	if _, _, err := Measure(filepath.Join(c.Dir(), "lock-00")); err == nil {
		t.Error("a file is measured as a folder")
	}
}
