package kernels

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxFile bounds a kernel file, in bytes. candle's largest is 330 kB.
const maxFile = 16 << 20

// Open returns the project's kernels for "" and Own, else those in the folder
// or the .crate file at path: candle's files under their names. That all of
// Libraries are there is checked here.
func Open(path string) (*Set, error) {
	if path == "" || path == Own {
		return OwnSet(), nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("kernels: %w; %s", err, wanted)
	case info.IsDir():
		return openFolder(path)
	case info.Mode().IsRegular() && filepath.Ext(path) == ".crate":
		return openCrate(path)
	}
	return nil, fmt.Errorf("kernels: %s is neither a folder nor a .crate file; %s", path, wanted)
}

// wanted ends the errors of what cannot be opened.
const wanted = `give "own", a folder with candle's .metal files, or a .crate file of candle-metal-kernels`

func openFolder(dir string) (*Set, error) {
	texts := map[string][]byte{}
	for l, name := range candleFiles {
		file := filepath.Join(dir, name)
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, fmt.Errorf("kernels: library %s: %w", l, err)
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("kernels: library %s: %s is not a regular file", l, file)
		case info.Size() > maxFile:
			return nil, fmt.Errorf("kernels: library %s: %s has %d bytes; at most %d are read", l, file, info.Size(), maxFile)
		}
		if texts[name], err = os.ReadFile(file); err != nil {
			return nil, fmt.Errorf("kernels: library %s: %w", l, err)
		}
	}
	return New(dir, dir, "", texts)
}

func openCrate(file string) (*Set, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("kernels: %w", err)
	}
	defer f.Close()
	c, err := ReadCrate(f)
	if err != nil {
		return nil, fmt.Errorf("kernels: %s: %w", file, err)
	}
	return New(file, file, c.Licence, c.Files)
}

// isSource says whether a file of candle's crate may be the source of a
// library, by its path in the crate: candle moved them from src to
// src/metal_src.
func isSource(name string) bool {
	dir, base := path.Split(name)
	return (dir == "src/" || dir == "src/metal_src/") && slices.Contains(slices.Collect(maps.Values(candleFiles)), base)
}

// sources gives the files of a crate that isSource chose by their names alone.
func sources(files map[string][]byte) map[string][]byte {
	out := map[string][]byte{}
	for name, text := range files {
		if base := path.Base(name); out[base] == nil || strings.Contains(name, "metal_src") {
			out[base] = text
		}
	}
	return out
}

// New makes a set of candle's files by name, which may hold others too. name is
// what messages call it, where it lies is path, "" if nowhere.
func New(name, path, licence string, texts map[string][]byte) (*Set, error) {
	s := &Set{name: name, path: path, licence: licence}
	for _, l := range slices.Sorted(maps.Keys(candleFiles)) {
		file := candleFiles[l]
		text, ok := texts[file]
		if !ok {
			continue
		}
		if len(text) > maxFile {
			return nil, fmt.Errorf("kernels: library %s: %s has %d bytes; at most %d are read", l, file, len(text), maxFile)
		}
		if i := bytes.IndexByte(text, 0); i >= 0 {
			return nil, fmt.Errorf("kernels: library %s: %s has a zero byte at offset %d, as UTF-16 does; a source is a text in UTF-8", l, file, i)
		}
		s.files = append(s.files, File{l, file, string(text)})
	}
	var missing []string
	for _, l := range Libraries {
		if _, ok := texts[candleFiles[l]]; !ok {
			missing = append(missing, candleFiles[l])
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("kernels: %s has no %s; it must hold candle's files, such as candle-metal-kernels/src/metal_src", name, strings.Join(missing, ", "))
	}
	return s, nil
}
