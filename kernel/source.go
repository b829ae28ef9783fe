// Package kernel is for those who write Metal kernels: it reads a .metal file with
// its headers, says what it declares, makes its pipelines, and runs them. It knows
// the shim alone, so that every driver does the same.
package kernel

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/msl"
	"github.com/introgen/introgen/metalshim/msl/include"
	"github.com/introgen/introgen/system/files"
)

// Options say how a source is read and compiled.
type Options struct {
	Folders []string // where headers are, after the folder of the file that includes
	Macros  []Macro
	Math    metalshim.MathMode
}

// Macro is one of a preprocessor, as -D gives it.
type Macro struct{ Name, Value string }

var macroName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ParseMacro reads NAME or NAME=VALUE. Without a value it is 1.
func ParseMacro(text string) (Macro, error) {
	name, value, given := strings.Cut(text, "=")
	if !given {
		value = "1"
	}
	switch {
	case !macroName.MatchString(name):
		return Macro{}, fmt.Errorf("%q: NAME or NAME=VALUE is wanted, the name of letters, digits and _", text)
	case strings.ContainsAny(value, "\n\r\x00"):
		return Macro{}, fmt.Errorf("%q: a macro's value is one line", text)
	}
	return Macro{name, value}, nil
}

// ParseMath reads the name of a math mode.
func ParseMath(text string) (metalshim.MathMode, error) {
	switch text {
	case "fast":
		return metalshim.MathFast, nil
	case "relaxed":
		return metalshim.MathRelaxed, nil
	case "safe":
		return metalshim.MathSafe, nil
	}
	return 0, fmt.Errorf("%q: fast, relaxed or safe is wanted", text)
}

// Source is a .metal file, joined with its headers.
type Source struct {
	Path string
	o    Options
	text include.Joined
}

// maxMetal bounds a file, in bytes.
const maxMetal = include.MaxBytes

// Open reads a file and the headers that it includes.
func Open(path string, o Options) (*Source, error) {
	for _, f := range o.Folders {
		if info, err := os.Stat(f); err != nil {
			return nil, fmt.Errorf("folder of headers: %w", err)
		} else if !info.IsDir() {
			return nil, fmt.Errorf("folder of headers: %s is no folder", f)
		}
	}
	text, err := readText(path)
	if err != nil {
		return nil, err
	}
	joined, err := include.Join(path, string(text), include.Options{Folders: o.Folders, Read: func(path string) ([]byte, error) {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return nil, fs.ErrNotExist // folders of the name of a header are no headers
		}
		return readText(path)
	}})
	if err != nil {
		return nil, err
	}
	return &Source{path, o, joined}, nil
}

func readText(path string) ([]byte, error) {
	text, err := files.ReadAtMost(path, maxMetal)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(text) {
		at := 0
		for at < len(text) {
			r, n := utf8.DecodeRune(text[at:])
			if r == utf8.RuneError && n < 2 {
				break
			}
			at += n
		}
		line := 1 + strings.Count(string(text[:at]), "\n")
		return nil, fmt.Errorf("%s:%d: byte %d is no UTF-8, in which Metal's sources are written", path, line, at)
	}
	return text, nil
}

// Name is the library's: the file's name without its ending.
func (s *Source) Name() string {
	return cmp.Or(strings.TrimSuffix(filepath.Base(s.Path), filepath.Ext(s.Path)), s.Path)
}

// Metal is what a device compiles.
func (s *Source) Metal() metalshim.Source {
	macros := map[string]string{}
	for _, m := range s.o.Macros {
		macros[m.Name] = m.Value
	}
	return metalshim.Source{Name: s.Name(), Text: s.text.Text, File: s.Path,
		CompileOptions: metalshim.CompileOptions{MathMode: s.o.Math, Macros: macros}}
}

// Read reads what the source declares, without a compiler.
func (s *Source) Read() (*msl.Library, error) {
	var before strings.Builder
	for _, m := range s.o.Macros {
		fmt.Fprintf(&before, "#define %s %s\n", m.Name, m.Value)
	}
	l, err := msl.Read(s.Path, before.String()+s.text.Text)
	if err != nil {
		if missing, _, is := strings.Cut(err.Error(), ": a library is one text"); is {
			return nil, fmt.Errorf("%s is not there, in the folder of the file that includes it and %s", missing, s.folders())
		}
	}
	var at *msl.Error
	if errors.As(err, &at) && at.Line > len(s.o.Macros) {
		file, line := s.text.Place(s.Path, at.Line-len(s.o.Macros))
		return nil, fmt.Errorf("%s:%d: %s", file, line, at.Reason)
	}
	return l, err
}

// folders are those of -I, in words.
func (s *Source) folders() string {
	if len(s.o.Folders) == 0 {
		return "no other; -I DIR names one more folder of headers"
	}
	return "in " + strings.Join(s.o.Folders, ", ") + "; -I DIR names one more folder of headers"
}

// explain says of an error of a compiler where headers have been looked for.
func (s *Source) explain(err error) error {
	var e *metalshim.CompileError
	if !errors.As(err, &e) {
		return err
	}
	for i, d := range e.Diagnostics {
		name, _, missing := strings.Cut(d.Message, " file not found")
		if !missing {
			continue
		}
		e.Diagnostics[i].Message = fmt.Sprintf("%s file not found, in the folder of the file that includes it and %s", name, s.folders())
	}
	return err
}
