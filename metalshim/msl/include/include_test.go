package include

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim/soft/clang"
)

// tree writes files and changes to their folder.
func tree(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func join(t *testing.T, path string, folders ...string) (Joined, error) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return Join(path, string(text), Options{Folders: folders, Read: os.ReadFile})
}

var sources = map[string]string{
	"k/a.metal": "int before;\n#include \"b.h\" // with a comment\n#include <deep/c.h>\n/* #include \"none.h\"\n#include \"none.h\" */ int between;\n" +
		"#ifdef NEVER\n#include \"none.h\"\n#endif\n#include \"b.h\"\n#import \"plain.h\"\n#import \"plain.h\"\n#include \"twice.h\"\n#include \"twice.h\"\nint last;\n",
	"k/b.h":              "#pragma once\n#include \"../inc/deep/c.h\"\nint b;",
	"inc/deep/c.h":       "// guard\n#ifndef C_H\n#define C_H\n#include \"d.h\"\nint c;\n#endif /* C_H */\n",
	"inc/deep/d.h":       "#ifndef D_H\n#define D_H\n#include \"c.h\"\nint d;\n#if __has_include(\"c.h\")\nint has;\n#endif\n#endif\n",
	"k/plain.h":          "int plain;\n",
	"k/twice.h":          "#ifndef SECOND\n#define SECOND\nint first;\n#else\nint second;\n#endif\n",
	"k/cond.metal":       "#ifdef NEVER\n#include \"b.h\"\n#endif\n#include \"b.h\"\nint end;\n",
	"k/apostrophe.metal": "#if 0\nit's /* no comment's end\n*/\n#endif\n#define A 1 \\\n  + 2\nint x = A; // '\n#include \"plain.h\"\n",
}

// TestSameAsClang: what clang makes of the joined text is what it makes of the files.
func TestSameAsClang(t *testing.T) {
	tools, err := clang.Find(t.Context())
	if err != nil {
		t.Skipf("SKIP: needs clang 19: %v", err)
	}
	tree(t, sources)
	preprocessed := func(text string, args ...string) string {
		argv := slices.Concat(tools.Compiler, []string{"-E", "-P", "-x", "c++"}, args)
		c := exec.Command(argv[0], argv[1:]...)
		c.Stdin = strings.NewReader(text)
		var errs strings.Builder
		c.Stderr = &errs
		out, err := c.Output()
		if err != nil {
			t.Fatalf("clang: %v\n%s", err, &errs)
		}
		return strings.Join(strings.Fields(string(out)), " ")
	}
	for _, path := range []string{"k/a.metal", "k/cond.metal", "k/apostrophe.metal"} {
		want := preprocessed("", "-I", "inc", path)
		j, err := join(t, path, "inc")
		if err != nil {
			t.Fatal(err)
		}
		got := preprocessed(j.Text, "-")
		if got != want {
			t.Errorf("%s: joined\n%s\nclang makes\n%s\nwant\n%s", path, j.Text, got, want)
		}
	}
}

func TestPlaces(t *testing.T) {
	tree(t, sources)
	j, err := join(t, "k/a.metal", "inc")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"int before;": "k/a.metal:1", "int b;": "k/b.h:3", "int c;": "inc/deep/c.h:5", "int d;": "inc/deep/d.h:4", "int last;": "k/a.metal:14",
	} {
		n := 1 + strings.Count(j.Text[:strings.Index(j.Text, text)], "\n")
		file, line := j.Place("k/a.metal", n)
		if fmt.Sprintf("%s:%d", file, line) != want {
			t.Errorf("%q, line %d, is of %s:%d, want %s", text, n, file, line, want)
		}
	}
	if got := strings.Join(j.Files, " "); got != "k/b.h inc/deep/c.h inc/deep/d.h k/plain.h k/twice.h" {
		t.Errorf("headers: %s", got)
	}
}

// TestMissing: an include whose file is not there is left to the compiler.
func TestMissing(t *testing.T) {
	j, err := Join("a.metal", "#include \"none.h\"\n#include <metal_stdlib>\n#include WHAT\n", Options{Read: func(string) ([]byte, error) { return nil, fs.ErrNotExist }})
	if err != nil || j.Text != "#include \"none.h\"\n#include <metal_stdlib>\n#include WHAT\n" {
		t.Errorf("%q, %v", j.Text, err)
	}
}

// TestHostile: no source takes time or memory without bound.
func TestHostile(t *testing.T) {
	tree(t, map[string]string{
		"self.metal": "#include \"self.metal\"\n", "a.metal": "#include \"b.h\"\n", "b.h": "int x;\n#include \"c.h\"\n", "c.h": "#include \"b.h\"\n",
		"bomb.metal": "#include \"n0.h\"\n#include \"n0.h\"\n",
		"n0.h":       strings.Repeat("#include \"n1.h\"\n", 100), "n1.h": strings.Repeat("#include \"n2.h\"\n", 100), "n2.h": strings.Repeat("#include \"n3.h\"\n", 100), "n3.h": "int x;\n",
	})
	for path, want := range map[string]string{
		"self.metal": "headers include each other without end", "a.metal": "headers include each other without end", "bomb.metal": "headers include each other without end",
	} {
		if _, err := join(t, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func FuzzJoin(f *testing.F) {
	for _, text := range sources {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		j, err := Join("k/a.metal", text, Options{Folders: []string{"inc"}, Read: func(path string) ([]byte, error) {
			if text, ok := sources[path]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		}})
		if err == nil {
			j.Place("k/a.metal", 1<<20)
		}
	})
}
