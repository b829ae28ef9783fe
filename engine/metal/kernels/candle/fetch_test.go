package candle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/system/terminal"
	"github.com/introgen/introgen/system/tools"
)

// sources are the files that a set must have, each a comment.
var sources = []string{"affine", "binary", "cast", "mlx_gemm", "indexing", "quantized", "reduce", "scaled_dot_product_attention", "ternary", "unary"}

// crateOf makes the .crate file of a version, with some of the files.
func crateOf(t testing.TB, v string, files []string) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	w := tar.NewWriter(zip)
	put := func(name, text string) {
		if err := w.WriteHeader(&tar.Header{Name: pkg + "-" + v + "/" + name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	put("Cargo.toml", fmt.Sprintf("[package]\nname = %q\nversion = %q\nlicense = \"MIT OR Apache-2.0\"\n", pkg, v))
	put("src/lib.rs", "fn main() {}")
	for _, f := range files {
		put("src/metal_src/"+f+".metal", "// "+f+" "+v)
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// fakeCargo stands for cargo on PATH: it knows one version, whose crate is b
// and whose checksum in the index is sum, gets it only from its network, and
// keeps it as cargo does. Each fetch is a line in the file it returns.
func fakeCargo(t *testing.T, v string, b []byte, sum string) (calls string) {
	t.Helper()
	dir := t.TempDir()
	calls = filepath.Join(dir, "calls")
	if err := os.WriteFile(filepath.Join(dir, "published.crate"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	script := `#!/bin/sh
dir=` + dir + `
case "$1" in
--version) echo "cargo 1.0.0 (fake)" ;;
fetch)
	echo "$*" >>$dir/calls
	grep -q '` + pkg + ` = { version = "=` + v + `"' Cargo.toml || {
		echo "error: failed to select a version for the requirement" >&2
		echo "candidate versions found which didn't match: ` + v + `" >&2
		exit 101
	}
	if [ "$3" = --offline ] && [ ! -e $dir/registry ]; then
		echo "error: no matching package named in offline mode" >&2
		exit 101
	fi
	[ -z "$SLOW" ] || { echo slow >>$dir/calls; exec sleep 60; }
	mkdir -p $dir/registry/src/index-1/` + pkg + `-` + v + ` $dir/registry/cache/index-1
	cp $dir/published.crate $dir/registry/cache/index-1/` + pkg + `-` + v + `.crate
	printf '[[package]]\nname = "kernels"\nversion = "0.0.0"\n\n[[package]]\nname = "` + pkg + `"\nversion = "` + v + `"\nchecksum = "` + sum + `"\n' >Cargo.lock
	;;
metadata)
	echo '{"packages":[{"name":"` + pkg + `","version":"` + v + `","manifest_path":"'$dir/registry/src/index-1/` + pkg + `-` + v + `/Cargo.toml'"}]}'
	;;
esac
`
	if err := os.WriteFile(filepath.Join(dir, "cargo"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return calls
}

func sha(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// left lists what is in a folder, the lock file left out.
func left(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if e.Name() != ".lock" {
			out = append(out, e.Name())
		}
	}
	return out
}

func TestFetch(t *testing.T) {
	b := crateOf(t, "1.2.3", append([]string{"sort"}, sources...))
	calls := fakeCargo(t, "1.2.3", b, sha(b))
	dir := filepath.Join(t.TempDir(), "kernels")
	var said bytes.Buffer
	s, err := Fetch(context.Background(), Options{Version: "1.2.3", Dir: dir, Meter: terminal.NewMeter(&said, terminal.Lines)})
	if err != nil {
		t.Fatal(err)
	}
	if s.String() != "candle@1.2.3" || s.Path() != filepath.Join(dir, "candle-1.2.3") || s.Licence() != "MIT OR Apache-2.0" || len(s.Files()) != 11 {
		t.Errorf("set %s in %s, licence %s, %d files", s, s.Path(), s.Licence(), len(s.Files()))
	}
	if text, file, err := s.Library("Gemm"); err != nil || text != "// mlx_gemm 1.2.3" || file != "mlx_gemm.metal" {
		t.Errorf("Gemm is %q from %s, %v", text, file, err)
	}
	if got := left(t, dir); len(got) != 1 {
		t.Errorf("the folder holds %v", got)
	}
	if !strings.Contains(said.String(), "candle-metal-kernels 1.2.3 with cargo: ") {
		t.Errorf("progress is %q", &said)
	}
	manifest, err := os.ReadFile(filepath.Join(s.Path(), manifestName))
	if err != nil || !bytes.Contains(manifest, []byte(sha(b))) || !bytes.Contains(manifest, []byte(sha([]byte("// sort 1.2.3")))) {
		t.Errorf("the manifest lacks a digest (%v): %s", err, manifest)
	}

	// A second time nothing is asked of cargo.
	again, err := Fetch(context.Background(), Options{Version: "1.2.3", Dir: dir})
	if err != nil || again.Digest() != s.Digest() {
		t.Errorf("the second fetch: %v", err)
	}
	if log, err := os.ReadFile(calls); err != nil || string(log) != "fetch --quiet --offline\nfetch --quiet\n" {
		t.Errorf("cargo was called with %q, %v", log, err)
	}

	// The same files in a crate of any name are the same set.
	file := filepath.Join(t.TempDir(), "x.crate")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := kernels.Open(file); err != nil || c.Digest() != s.Digest() {
		t.Errorf("the crate itself: %v", err)
	}
}

// TestDamage: a set of which a byte has changed is not used, and the next fetch
// replaces it; so is one whose fetch was killed.
func TestDamage(t *testing.T) {
	b := crateOf(t, "1.2.3", sources)
	fakeCargo(t, "1.2.3", b, sha(b))
	dir := t.TempDir()
	o := Options{Version: "1.2.3", Dir: dir}
	good, err := Fetch(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(path string) error{
		"a byte": func(p string) error {
			return os.WriteFile(filepath.Join(p, "cast.metal"), []byte("// cast 1.2.4"), 0o600)
		},
		"a file":      func(p string) error { return os.Remove(filepath.Join(p, "cast.metal")) },
		"no manifest": func(p string) error { return os.Remove(filepath.Join(p, manifestName)) },
		"half of it":  func(p string) error { return os.Truncate(filepath.Join(p, manifestName), 100) },
		"a folder": func(p string) error {
			return errors.Join(os.Remove(filepath.Join(p, "cast.metal")), os.Mkdir(filepath.Join(p, "cast.metal"), 0o700))
		},
		"path in it":   func(p string) error { return edit(p, `"cast.metal"`, `"../cast.metal"`) },
		"a digest":     func(p string) error { return edit(p, sha([]byte("// cast 1.2.3")), "") },
		"a new format": func(p string) error { return edit(p, `"Format": 1`, `"Format": 2`) },
		"the version":  func(p string) error { return edit(p, `"Version": "1.2.3"`, `"Version": "1.2.4"`) },
	} {
		if err := damage(filepath.Join(dir, "candle-1.2.3")); err != nil {
			t.Fatal(name, err)
		}
		if err := os.Mkdir(filepath.Join(dir, scratchPrefix+"killed"), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, "1.2.3"); err == nil || !strings.Contains(err.Error(), "`introgen kernels fetch candle@1.2.3`") {
			t.Errorf("%s: %v", name, err)
		}
		if list, err := List(dir); err != nil || len(list) != 1 || list[0].Err == nil || list[0].Set != nil {
			t.Errorf("%s: listed as %+v, %v", name, list, err)
		}
		s, err := Fetch(context.Background(), o)
		if err != nil || s.Digest() != good.Digest() {
			t.Fatalf("%s: not replaced: %v", name, err)
		}
		if got := left(t, dir); len(got) != 1 {
			t.Errorf("%s: the folder holds %v", name, got)
		}
	}
}

func edit(dir, from, to string) error {
	path := filepath.Join(dir, manifestName)
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, bytes.Replace(b, []byte(from), []byte(to), 1), 0o600)
}

// TestFetchFails: whatever goes wrong is one error, and nothing is left.
func TestFetchFails(t *testing.T) {
	b := crateOf(t, "1.2.3", sources)
	for _, c := range []struct {
		name, version, want string
		crate               []byte
		sum                 string
	}{
		{"no such version", "1.2.4", "candidate versions found which didn't match: 1.2.3", b, sha(b)},
		{"no version", "../../etc", "no version such as", b, sha(b)},
		{"another checksum", "1.2.3", "lock file states " + sha(nil), b, sha(nil)},
		{"no checksum", "1.2.3", "states no checksum", b, ""},
		{"a broken crate", "1.2.3", "not a .crate file", []byte("<html>"), sha([]byte("<html>"))},
		{"another crate", "1.2.3", "its manifest says candle-metal-kernels 3.2.1", crateOf(t, "3.2.1", sources), sha(crateOf(t, "3.2.1", sources))},
		{"an old crate", "1.2.3", "has no affine.metal, binary.metal", crateOf(t, "1.2.3", sources[2:]), sha(crateOf(t, "1.2.3", sources[2:]))},
	} {
		t.Run(c.name, func(t *testing.T) {
			fakeCargo(t, "1.2.3", c.crate, c.sum)
			dir := t.TempDir()
			_, err := Fetch(context.Background(), Options{Version: c.version, Dir: dir})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, c.want)
			}
			if got := left(t, dir); len(got) != 0 {
				t.Errorf("left behind: %v", got)
			}
		})
	}
	t.Run("no cargo", func(t *testing.T) {
		for _, variable := range []string{"PATH", "CARGO_HOME", "RUSTUP_HOME", "HOME", "USERPROFILE"} {
			t.Setenv(variable, t.TempDir())
		}
		_, err := Fetch(context.Background(), Options{Dir: t.TempDir()})
		if !errors.Is(err, tools.ErrMissing) || !strings.Contains(err.Error(), "rustup") || !strings.Contains(err.Error(), "--kernels takes a folder") {
			t.Errorf("error %v, want one that says how to get cargo and what does without it", err)
		}
	})
}

// TestInterrupted: Ctrl-C while cargo works ends cargo and leaves nothing.
func TestInterrupted(t *testing.T) {
	b := crateOf(t, "1.2.3", sources)
	calls := fakeCargo(t, "1.2.3", b, sha(b))
	t.Setenv("SLOW", "1")
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for ctx.Err() == nil {
			if log, _ := os.ReadFile(calls); bytes.Contains(log, []byte("slow")) {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	dir, begun := t.TempDir(), time.Now()
	if _, err := Fetch(ctx, Options{Version: "1.2.3", Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the interruption", err)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	if got := left(t, dir); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

// TestTwoAtOnce: two fetches into one folder ask cargo once.
func TestTwoAtOnce(t *testing.T) {
	b := crateOf(t, "1.2.3", sources)
	calls := fakeCargo(t, "1.2.3", b, sha(b))
	dir := t.TempDir()
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if _, err := Fetch(context.Background(), Options{Version: "1.2.3", Dir: dir}); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if log, _ := os.ReadFile(calls); bytes.Count(log, []byte("\n")) != 2 {
		t.Errorf("cargo was called with %q", log)
	}
}

func TestRef(t *testing.T) {
	for ref, want := range map[string]string{
		"candle": "0.11.0 true", "candle@0.9.1": "0.9.1 true", "candle@0.10.0-alpha.1": "0.10.0-alpha.1 true",
		"own": " false", "./candle": " false", "candle.crate": " false", "": " false", "candle/x": " false",
	} {
		v, ok, err := ParseRef(ref)
		if got := fmt.Sprint(v, " ", ok); got != want || err != nil {
			t.Errorf("%q: %s, %v; want %s", ref, got, err, want)
		}
	}
	for _, ref := range []string{"candle@", "candle@latest", "candle@1.2", "candle@1.2.3/..", "candle@1.2.3\"", "candle@1.2.3 "} {
		if _, ok, err := ParseRef(ref); !ok || err == nil || !strings.Contains(err.Error(), "candle@0.11.0") {
			t.Errorf("%q: %v, %v", ref, ok, err)
		}
	}
}

func TestAbsent(t *testing.T) {
	t.Setenv(DirEnv, filepath.Join(t.TempDir(), "nowhere"))
	dir, err := Dir()
	if err != nil || filepath.Base(dir) != "nowhere" {
		t.Errorf("folder %s, %v", dir, err)
	}
	if _, err := Open(dir, Experiment); !errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), "`introgen kernels fetch candle@0.11.0`") {
		t.Errorf("error %v, want one that names the command", err)
	}
	if list, err := List(dir); err != nil || len(list) != 0 {
		t.Errorf("list %v, %v", list, err)
	}
	t.Setenv(DirEnv, "")
	t.Setenv("XDG_CACHE_HOME", "/c")
	t.Setenv("HOME", "/c")
	if dir, err := Dir(); err != nil || !strings.HasSuffix(dir, filepath.Join("introgen", "kernels")) {
		t.Errorf("folder %s, %v", dir, err)
	}
}

// TestListInOrder: versions are ordered as numbers, and what is no version is
// left out.
func TestListInOrder(t *testing.T) {
	dir := t.TempDir()
	for _, v := range []string{"0.11.0", "0.9.1", "0.10.2", "0.10.0", "latest"} {
		if err := os.Mkdir(filepath.Join(dir, "candle-"+v), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	list, err := List(dir)
	var got []string
	for _, e := range list {
		got = append(got, e.Version)
	}
	if want := "0.9.1 0.10.0 0.10.2 0.11.0"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("listed %v, %v; want %s", got, err, want)
	}
}
