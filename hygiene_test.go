package introgen_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tracked returns the files that git keeps and that are there, with their text.
func tracked(t *testing.T) map[string][]byte {
	t.Helper()
	out, err := exec.Command("git", "-c", "safe.directory=*", "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("SKIP: needs git and the project's own repository: %v", err)
	}
	files := map[string][]byte{}
	for _, name := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		st, err := os.Lstat(name)
		if err != nil || !st.Mode().IsRegular() {
			continue // removed or replaced since, and not yet committed
		}
		if files[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	if len(files) == 0 {
		t.Fatal("git lists no file")
	}
	return files
}

// source is the endings of files that people write and read as code.
var source = map[string]bool{".go": true, ".s": true, ".c": true, ".h": true, ".metal": true,
	".rs": true, ".py": true, ".sh": true, ".js": true, ".css": true, ".html": true}

var generated = regexp.MustCompile(`(?m)^(//|#|/\*) Code generated .* DO NOT EDIT\.`)

// TestFileLength keeps files short enough to be read in one go.
func TestFileLength(t *testing.T) {
	const most = 500
	for name, text := range tracked(t) {
		script := bytes.HasPrefix(text, []byte("#!"))
		if !source[path.Ext(name)] && !script || strings.Contains(name, "testdata/") || generated.Match(text) {
			continue
		}
		if n := bytes.Count(text, []byte("\n")); n > most {
			t.Errorf("%s has %d lines; at most %d are allowed: divide it by what its parts are about", name, n, most)
		}
	}
}

// forbidden is what no file may contain. The expressions are written so that
// they do not find themselves.
var forbidden = []struct {
	what string
	re   *regexp.Regexp
}{
	{"a package registry's host: registries are used through their own clients",
		regexp.MustCompile(`(?i)\b(pypi[.]org|pythonhosted[.]org|crates[.]io|(proxy|sum)[.]golang[.]org|npmjs[.]org|npmjs[.]com|rubygems[.]org|ghcr[.]io)\b`)},
	{"a path of one machine",
		regexp.MustCompile(`(^|[^A-Za-z0-9_./-])/(work|root|home)/|[.][.]/shared`)},
	{"something to be done, without a reason",
		regexp.MustCompile(`\b(TO[D]O|FIX[M]E)\b[^:]{0,20}($|:\s*.{0,15}$)`)},
	{"a merge's mark", regexp.MustCompile(`^(<{7}|>{7}) `)},
}

func TestForbiddenText(t *testing.T) {
	for name, text := range tracked(t) {
		if bytes.IndexByte(text, 0) >= 0 {
			continue // binary
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			for _, f := range forbidden {
				if f.re.MatchString(strings.TrimRight(line, "\n")) {
					t.Errorf("%s:%d has %s: %.120s", name, n, f.what, strings.TrimSpace(line))
				}
			}
		}
	}
}

// TestForbiddenTextIsFound shows that the expressions find what they are for.
func TestForbiddenTextIsFound(t *testing.T) {
	for i, text := range []string{
		"https://" + "pypi" + ".org/simple", "see " + "/root" + "/x", "// TO" + "DO fix", "<<<<" + "<<< ours",
	} {
		if !forbidden[i].re.MatchString(text) {
			t.Errorf("%q is not found as %s", text, forbidden[i].what)
		}
	}
}

// TestPackages holds packages to names that say something and to a comment that
// says what they are for.
func TestPackages(t *testing.T) {
	comments := map[string]string{}
	for name := range tracked(t) {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.FromSlash(name), nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Error(err)
			continue
		}
		dir := path.Dir(name)
		switch f.Name.Name {
		case "util", "utils", "common", "helper", "helpers", "misc", "shared", "base":
			t.Errorf("%s: package %s says nothing of its purpose", name, f.Name.Name)
		}
		if doc := f.Doc.Text(); doc != "" {
			if comments[dir] != "" {
				t.Errorf("%s: package %s has a second package comment", name, f.Name.Name)
			}
			begins := "Package " + f.Name.Name + " "
			if f.Name.Name == "main" {
				begins = "Command "
			}
			if !strings.HasPrefix(doc, begins) {
				t.Errorf("%s: the package comment begins %.30q; want %q", name, doc, begins)
			}
			comments[dir] = doc
		} else if _, seen := comments[dir]; !seen {
			comments[dir] = ""
		}
	}
	for dir, doc := range comments {
		if doc == "" {
			t.Errorf("package %s has no package comment", dir)
		}
	}
}

// TestPredeclaredNames finds what is declared under a name that the language has
// already given to something else: who reads real, any or clear below it reads
// another thing than he knows.
func TestPredeclaredNames(t *testing.T) {
	for name, text := range tracked(t) {
		if path.Ext(name) != ".go" || strings.Contains(name, "testdata/") {
			continue
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, filepath.FromSlash(name), text, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, id := range predeclared(f) {
			t.Errorf("%s declares %s, a name that Go predeclares", files.Position(id.Pos()), id.Name)
		}
	}
}

// TestPredeclaredNamesAreFound shows that each way to declare one is looked at.
func TestPredeclaredNamesAreFound(t *testing.T) {
	const text = `package p
import "fmt"
const iota = 1
var real, fine = 2, 3
type comparable struct{}
func copy[any int](len, cap int) (max int) {
	clear := 1
	for min, imag := range []int{} {
		fmt.Print(clear, min, imag)
	}
	return func(print int) int { return print }(cap)
}
func (new comparable) append() { new = comparable{} }
`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, id := range predeclared(f) {
		got = append(got, id.Name)
	}
	want := "iota real comparable copy any len cap max clear min imag print new"
	if strings.Join(got, " ") != want {
		t.Errorf("found %q, want %q", got, want)
	}
}

// predeclared are the names in a file that it declares and Go has already.
func predeclared(f *ast.File) (found []*ast.Ident) {
	declared := func(ids ...*ast.Ident) {
		for _, id := range ids {
			if types.Universe.Lookup(id.Name) != nil {
				found = append(found, id)
			}
		}
	}
	fields := func(lists ...*ast.FieldList) {
		for _, list := range lists {
			if list != nil {
				for _, field := range list.List {
					declared(field.Names...)
				}
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					declared(id)
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					declared(id)
				}
			}
		case *ast.ValueSpec:
			declared(n.Names...)
		case *ast.TypeSpec:
			declared(n.Name)
		case *ast.FuncDecl:
			fields(n.Recv)
			if n.Recv == nil {
				declared(n.Name)
			}
		case *ast.FuncType:
			fields(n.TypeParams, n.Params, n.Results)
		}
		return true
	})
	return found
}

// TestScripts checks what a shell script needs to be called.
func TestScripts(t *testing.T) {
	for name, text := range tracked(t) {
		shell := bytes.HasPrefix(text, []byte("#!/bin/sh")) || bytes.HasPrefix(text, []byte("#!/usr/bin/env bash"))
		if !shell || strings.Contains(name, "testdata/") {
			continue
		}
		if st, err := os.Stat(name); err != nil || st.Mode()&0o111 == 0 {
			t.Errorf("%s is not executable (%v)", name, err)
		}
		if !bytes.Contains(text, []byte("\nset -eu")) {
			t.Errorf("%s goes on after an error: it has no `set -eu`", name)
		}
		interpreter := "sh"
		if bytes.Contains(bytes.SplitN(text, []byte("\n"), 2)[0], []byte("bash")) {
			interpreter = "bash"
		}
		if out, err := exec.Command(interpreter, "-n", name).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}
