// Package include joins a Metal source and the headers that it includes into one
// text, which is what newLibraryWithSource takes and what a cache of compiled
// libraries has in its key. Metal's own headers stay includes. #line directives
// keep the places, so that a compiler names the file and the line that somebody
// wrote.
package include

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Limits of what is joined. A library of MLX has some forty headers.
const (
	MaxBytes = 16 << 20 // of the whole text: what the soft driver takes
	maxDepth = 100      // of headers that include headers
	maxFiles = 10000    // inclusions, each time counted
)

// Options say where headers are.
type Options struct {
	// Folders are looked through after the folder of the file that includes.
	Folders []string
	// Read reads a file. fs.ErrNotExist says that it is not there.
	Read func(path string) ([]byte, error)
}

// Joined is one text, made of several files.
type Joined struct {
	Text  string
	Files []string // the headers in it, in the order of their first inclusion
}

type joiner struct {
	o     Options
	out   strings.Builder
	files []string
	read  map[string]*header
	done  map[string]bool // headers that need no second inclusion: the first was under no condition
	stack []string
	count int
}

// header is a file that was read.
type header struct {
	path string // clean, as it was found
	text string
	once bool // a second inclusion is nothing
	// guard is the macro that makes it so, "" where that is #pragma once.
	guard string
	id    int
}

// Join joins the text of the file at path and what it includes. An include whose
// file is not there stays as it is, as it may stand under a condition that does not
// hold; else the compiler refuses it.
func Join(path, text string, o Options) (Joined, error) {
	j := &joiner{o: o, read: map[string]*header{}, done: map[string]bool{}}
	text = strings.TrimPrefix(text, "\ufeff")
	j.stack = []string{filepath.Clean(path)}
	if err := j.write(path, text, true, false); err != nil {
		return Joined{}, err
	}
	return Joined{Text: j.out.String(), Files: j.files}, nil
}

// write appends a file's text. free says that no condition stands around it, and
// guarded that the file's own guard does.
func (j *joiner) write(path, text string, free, guarded bool) error {
	conditions, line := 0, 0
	s := scanner{}
	for raw := range strings.Lines(text) {
		line++
		if j.out.Len()+len(raw) > MaxBytes {
			return fmt.Errorf("%s:%d: the source and what it includes have more than %d bytes", path, line, MaxBytes)
		}
		d, is := s.directive(raw)
		if !is {
			j.out.WriteString(raw)
			continue
		}
		switch d.word {
		case "if", "ifdef", "ifndef":
			conditions++
		case "endif":
			conditions--
		}
		switch d.word {
		case "if", "elif":
			j.out.WriteString(j.hasInclude(path, raw))
		case "pragma":
			if strings.TrimSpace(d.rest) == "once" {
				raw = strings.Repeat("\n", strings.Count(raw, "\n"))
			}
			j.out.WriteString(raw)
		case "include", "import":
			outer := conditions
			if guarded {
				outer--
			}
			if err := j.include(path, line, raw, d, free && outer == 0); err != nil {
				return err
			}
		default:
			j.out.WriteString(raw)
		}
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		j.out.WriteByte('\n')
	}
	return nil
}

// include puts the text of a header in the place of the directive.
func (j *joiner) include(from string, line int, raw string, d directive, free bool) error {
	name, quoted, ok := fileName(d.rest)
	if !ok {
		j.out.WriteString(raw)
		return nil
	}
	h, err := j.find(from, name, quoted)
	if err != nil {
		return fmt.Errorf("%s:%d: #%s %s: %w", from, line, d.word, strings.TrimSpace(d.rest), err)
	}
	if h == nil {
		j.out.WriteString(raw)
		return nil
	}
	once := h.once || d.word == "import"
	inside := false
	for _, p := range j.stack {
		inside = inside || p == h.path
	}
	if once && (inside || j.done[h.path]) {
		j.out.WriteString("\n")
		return nil
	}
	if j.count++; len(j.stack) > maxDepth || j.count > maxFiles {
		return fmt.Errorf("%s:%d: #%s %s: headers include each other without end: %d deep, %d inclusions", from, line, d.word, strings.TrimSpace(d.rest), len(j.stack), j.count)
	}
	if once && free {
		j.done[h.path] = true
	}
	j.stack = append(j.stack, h.path)
	if once && h.guard == "" {
		fmt.Fprintf(&j.out, "#ifndef MSL_INCLUDED_%d\n#define MSL_INCLUDED_%[1]d\n", h.id)
	}
	fmt.Fprintf(&j.out, "#line 1 %s\n", quote(h.path))
	if err := j.write(h.path, h.text, free, h.guard != ""); err != nil {
		return err
	}
	if once && h.guard == "" {
		j.out.WriteString("#endif\n")
	}
	j.stack = j.stack[:len(j.stack)-1]
	fmt.Fprintf(&j.out, "#line %d %s\n", line+1, quote(from))
	return nil
}

func quote(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

// find finds a header; nil means that it is in none of the folders.
func (j *joiner) find(from, name string, quoted bool) (*header, error) {
	var candidates []string
	if filepath.IsAbs(name) {
		candidates = []string{name}
	} else {
		if quoted {
			candidates = append(candidates, filepath.Join(filepath.Dir(from), name))
		}
		for _, f := range j.o.Folders {
			candidates = append(candidates, filepath.Join(f, name))
		}
	}
	for _, path := range candidates {
		if h, known := j.read[path]; known {
			if h == nil {
				continue
			}
			return h, nil
		}
		b, err := j.o.Read(path)
		if errors.Is(err, fs.ErrNotExist) || notAFolder(err) {
			j.read[path] = nil
			continue
		}
		if err != nil {
			return nil, err
		}
		h := &header{path: path, text: strings.TrimPrefix(string(b), "\ufeff"), id: len(j.files)}
		h.once, h.guard = guardOf(h.text)
		j.read[path] = h
		j.files = append(j.files, path)
		return h, nil
	}
	return nil, nil
}

// Place is the file and the line from which a line of the text, counted from 1,
// came. path is that of the source.
func (t Joined) Place(path string, line int) (file string, at int) {
	file, at = path, 0
	n := 0
	for raw := range strings.Lines(t.Text) {
		if n++; n >= line {
			break
		}
		at++
		rest, is := strings.CutPrefix(raw, "#line ")
		if !is {
			continue
		}
		var name string
		if _, err := fmt.Sscanf(rest, "%d %q", &at, &name); err == nil {
			file = name
			at--
		}
	}
	return file, at + 1
}
