// Package suite is tests of Metal kernels in TOML files: what is launched with
// which arrays, and what the buffers hold afterwards.
package suite

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/introgen/introgen/kernel"
	"github.com/introgen/introgen/kernel/array"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/system/files"
	"github.com/pelletier/go-toml/v2"
)

// File is a TOML file. What stands at its top holds for each of its tests that does
// not say it itself.
type File struct {
	path string

	Source  string   `toml:"source"`
	Include []string `toml:"include"`
	Define  []string `toml:"define"`
	Math    string   `toml:"math"`
	Tests   []Test   `toml:"test"`
}

// Test is one launch and what it is held to.
type Test struct {
	file *File

	Name              string         `toml:"name"`
	Source            string         `toml:"source"`
	Define            []string       `toml:"define"` // beside the file's
	Math              string         `toml:"math"`
	Kernel            string         `toml:"kernel"`
	Grid              any            `toml:"grid"`
	Threadgroups      any            `toml:"threadgroups"`
	Threads           any            `toml:"threads"`
	Buffers           map[string]any `toml:"buffers"`
	Bytes             map[string]any `toml:"bytes"`
	Constants         map[string]any `toml:"constants"`
	ThreadgroupMemory map[string]any `toml:"threadgroup-memory"`
	Expect            map[string]any `toml:"expect"`
	Absolute          float64        `toml:"absolute"`
	Relative          float64        `toml:"relative"`
	ULP               float64        `toml:"ulp"`
}

// Limits of a suite.
const (
	maxBytes   = 4 << 20 // of a TOML file
	maxNesting = 64      // of brackets in it: the parser recurses
)

// Find lists the TOML files of a folder and of those in it, or the file that path
// is, in the order of their names.
func Find(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var out []string
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Ext(p) == ".toml" {
			out = append(out, p)
		}
		return err
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s holds no .toml file: each is a suite of tests", path)
	}
	return out, err
}

// Read reads a suite. Keys that are not known are errors.
func Read(path string) (*File, error) {
	b, err := files.ReadAtMost(path, maxBytes)
	if err != nil {
		return nil, err
	}
	if err := shallow(b); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := &File{path: path}
	d := toml.NewDecoder(bytes.NewReader(b))
	if err := d.DisallowUnknownFields().Decode(f); err != nil {
		return nil, explained(path, err)
	}
	if len(f.Tests) == 0 {
		return nil, fmt.Errorf("%s: it has no [[test]]", path)
	}
	names := map[string]bool{}
	for i := range f.Tests {
		t := &f.Tests[i]
		t.file = f
		switch {
		case t.Name == "":
			return nil, fmt.Errorf("%s: [[test]] %d has no name", path, i+1)
		case names[t.Name]:
			return nil, fmt.Errorf("%s: two tests are called %q", path, t.Name)
		case len(t.Expect) == 0:
			return nil, fmt.Errorf("%s: test %q expects nothing: expect = { BUFFER = ARRAY } is wanted", path, t.Name)
		case !(t.Absolute >= 0 && t.Relative >= 0 && t.ULP >= 0):
			return nil, fmt.Errorf("%s: test %q: absolute, relative and ulp are 0 or more", path, t.Name)
		}
		names[t.Name] = true
	}
	return f, nil
}

// explained is the parser's error in one line.
func explained(path string, err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		row, _ := strict.Errors[0].Position()
		return fmt.Errorf("%s:%d: key %s is not known", path, row, strings.Join(strict.Errors[0].Key(), "."))
	}
	var at *toml.DecodeError
	if errors.As(err, &at) {
		row, column := at.Position()
		return fmt.Errorf("%s:%d:%d: %s", path, row, column, strings.TrimPrefix(at.Error(), "toml: "))
	}
	return fmt.Errorf("%s: %w", path, err)
}

// shallow refuses what is nested deeper than any suite.
func shallow(b []byte) error {
	depth := 0
	for _, c := range b {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		case '\n':
			continue
		}
		if depth > maxNesting {
			return fmt.Errorf("brackets are nested deeper than %d", maxNesting)
		}
	}
	return nil
}

// Full is the test's name with that of its file.
func (t *Test) Full() string { return t.file.path + ": " + t.Name }

// open reads the source and makes the launch of the test.
func (t *Test) open() (*kernel.Source, kernel.Launch, error) {
	dir := filepath.Dir(t.file.path)
	l := kernel.Launch{Kernel: t.Kernel, Dir: dir, Buffers: values(t.Buffers), Bytes: values(t.Bytes),
		Constants: values(t.Constants), ThreadgroupMemory: values(t.ThreadgroupMemory)}
	for _, s := range []struct {
		name string
		from any
		to   *metalshim.Size
	}{{"grid", t.Grid, &l.Grid}, {"threadgroups", t.Threadgroups, &l.Groups}, {"threads", t.Threads, &l.Threads}} {
		if s.from == nil {
			continue
		}
		var err error
		if *s.to, err = kernel.ParseSize(sizeText(s.from)); err != nil {
			return nil, l, fmt.Errorf("%s %w", s.name, err)
		}
	}
	if (t.Grid == nil) == (t.Threadgroups == nil) {
		return nil, l, errors.New("one of grid, how many threads, and threadgroups, how many threadgroups, is wanted")
	}
	o := kernel.Options{}
	var err error
	if o.Math, err = kernel.ParseMath(first(t.Math, t.file.Math, "fast")); err != nil {
		return nil, l, fmt.Errorf("math %w", err)
	}
	for _, folder := range t.file.Include {
		o.Folders = append(o.Folders, under(dir, folder))
	}
	for _, text := range slices.Concat(t.file.Define, t.Define) {
		m, err := kernel.ParseMacro(text)
		if err != nil {
			return nil, l, fmt.Errorf("define %w", err)
		}
		o.Macros = append(o.Macros, m)
	}
	source := first(t.Source, t.file.Source)
	if source == "" {
		return nil, l, errors.New("source = FILE.metal is wanted, in the test or at the top of its file")
	}
	s, err := kernel.Open(under(dir, source), o)
	return s, l, err
}

func first(texts ...string) string {
	i := slices.IndexFunc(texts, func(s string) bool { return s != "" })
	if i < 0 {
		return ""
	}
	return texts[i]
}

func under(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// sizeText writes 64, "64x4" or [64, 4] as ParseSize takes it.
func sizeText(v any) string {
	list, is := v.([]any)
	if !is {
		return fmt.Sprint(v)
	}
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = fmt.Sprint(w)
	}
	return strings.Join(words, "x")
}

// values are a table's, in the order of its keys.
func values(table map[string]any) []kernel.Value {
	var out []kernel.Value
	for _, k := range slices.Sorted(maps.Keys(table)) {
		out = append(out, kernel.Value{Of: k, Text: fmt.Sprint(table[k])})
	}
	return out
}

// wanted is the array that a buffer is held to.
func (t *Test) wanted(v kernel.Value) (*array.Array, error) {
	a, err := array.Parse(v.Text, filepath.Dir(t.file.path), array.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("expect %s: %w", v.Of, err)
	}
	return a, nil
}
