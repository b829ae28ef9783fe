package gguf

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
)

// What llama-gguf-split writes into the parts of a file. A merged file keeps the
// keys, with a count of 0.
const (
	keySplitNo      = "split.no"
	keySplitCount   = "split.count"
	keySplitTensors = "split.tensors.count" // of all parts
)

// keyArchitecture stands in every whole file, and of a split one in its first part.
const keyArchitecture = "general.architecture"

// partName is how llama-gguf-split names a part.
var partName = regexp.MustCompile(`^(.+-)([0-9]{5})-of-([0-9]{5})\.gguf$`)

// partPath is the path of part i, counted from 1, of the split file that path is a
// part of; "" where its name is not that of a part.
func partPath(path string, i int) string {
	m := partName.FindStringSubmatch(filepath.Base(path))
	if m == nil {
		return ""
	}
	return filepath.Join(filepath.Dir(path), fmt.Sprintf("%s%05d-of-%s.gguf", m[1], i, m[3]))
}

// partPaths is the paths of all parts by the name of the first one, path, and path
// alone where that is no such name.
func partPaths(path string) []string {
	m := partName.FindStringSubmatch(filepath.Base(path))
	if m == nil || m[2] != "00001" {
		return []string{path}
	}
	of, _ := strconv.Atoi(m[3]) // five digits
	paths := []string{path}
	for i := 2; i <= of; i++ {
		paths = append(paths, partPath(path, i))
	}
	return paths
}

// Part returns which part of a split file this one is, counted from 1, and of
// how many: 1 of 1 where it is whole. An error names the key that is wrong.
func (f *File) Part() (part, of int, err error) {
	no, numbered, err := f.Uint32(keySplitNo)
	if err != nil {
		return 0, 0, err
	}
	count, _, err := f.Uint32(keySplitCount)
	if err != nil {
		return 0, 0, err
	}
	count = max(count, 1)
	if numbered && no >= count {
		return 0, 0, fmt.Errorf("gguf %s: metadata %s is %d of %d parts (%s); it counts from 0", f.Path, keySplitNo, no, count, keySplitCount)
	}
	return int(no) + 1, int(count), nil
}

// CheckWhole refuses a part of a split file that was opened without the others. It
// holds some of the model's tensors only.
func (f *File) CheckWhole() error {
	part, of, err := f.Part()
	if err != nil || of == 1 || f.parts != nil {
		return err
	}
	first := partPath(f.Path, 1)
	if first == "" {
		first = "FIRST-PART"
	}
	return fmt.Errorf("gguf %s: is part %d of %d of a split file (metadata split.no, split.count); merge the parts with `llama-gguf-split --merge %s OUT` and give OUT", f.Path, part, of, filepath.Base(first))
}

// OpenWhole is Open, and where path is the first part of a split file, the other
// parts are opened too, which lie beside it under the names that llama-gguf-split
// gives them: their tensors are then tensors of the file that it returns, whose
// metadata are those of the first part. Another part than the first is an error that
// names the first; so is a part that is missing, is another one than its name says, or
// does not belong to the others.
func OpenWhole(path string, reader IO) (*File, error) {
	f, err := Open(path, reader)
	if err != nil {
		return nil, err
	}
	if err := Fault(f.joinParts); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// joinParts opens the other parts of a split file.
func (f *File) joinParts() error {
	part, of, err := f.Part()
	if err != nil || of == 1 {
		return err
	}
	first := partPath(f.Path, 1)
	switch m := partName.FindStringSubmatch(filepath.Base(f.Path)); {
	case m == nil:
		return fmt.Errorf("gguf %s: is part %d of %d of a split file (metadata split.no, split.count), and the others cannot be found by its name; parts are named NAME-00001-of-%05d.gguf and so on", f.Path, part, of, of)
	case m[3] != fmt.Sprintf("%05d", of):
		return fmt.Errorf("gguf %s: is one of %d parts by its name and of %d by its metadata (split.count); give it the name that it was written under", f.Path, number(m[3]), of)
	case part != 1:
		return fmt.Errorf("gguf %s: is part %d of %d of a split file (metadata split.no, split.count); give the first, %s", f.Path, part, of, filepath.Base(first))
	case number(m[2]) != 1:
		return fmt.Errorf("gguf %s: is part 1 by its metadata (split.no), and not by its name; give it the name that it was written under", f.Path)
	}
	for i := 2; i <= of; i++ {
		if err := f.joinPart(i, of); err != nil {
			return err
		}
	}
	want, stated, err := f.Uint32(keySplitTensors)
	if err != nil {
		return err
	}
	if n := len(f.Tensors) + len(f.Skipped); stated && int64(n) != int64(want) {
		return fmt.Errorf("gguf %s: its %d parts have %d tensors, and metadata %s is %d: a part is of another model, or was written at another time", f.Path, of, n, keySplitTensors, want)
	}
	return nil
}

// number reads the five digits of a part's name.
func number(digits string) int { n, _ := strconv.Atoi(digits); return n }

// joinPart opens part i of so many and takes its tensors.
func (f *File) joinPart(i, of int) error {
	path := partPath(f.Path, i)
	p, err := Open(path, f.IO)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("gguf %s: part %d of %d is missing: %s must lie beside it", f.Path, i, of, filepath.Base(path))
	}
	if err != nil {
		return err
	}
	f.parts = append(f.parts, p) // which Close closes from here on
	no, count, err := p.Part()
	if err != nil {
		return err
	}
	if no != i || count != of {
		return fmt.Errorf("gguf %s: is part %d of %d by its metadata (split.no, split.count), and part %d of %d by its name: it is a part of another file, or a copy of another part", path, no, count, i, of)
	}
	own, _, err := f.String(keyArchitecture)
	if err != nil {
		return err
	}
	if other, given, err := p.String(keyArchitecture); err != nil {
		return err
	} else if given && other != own {
		return fmt.Errorf("gguf %s: is of architecture %q, and %s of %q: they are parts of different models", path, other, filepath.Base(f.Path), own)
	}
	for _, list := range [][]Tensor{p.Tensors, p.Skipped} {
		for _, t := range list {
			if _, double := f.byTen[t.Name]; double {
				return fmt.Errorf("gguf %s: tensor %q is in an earlier part too: the parts are of different models, or of different times", path, t.Name)
			}
			t.part = p
			if t.skipped() {
				f.Skipped = append(f.Skipped, t)
				f.byTen[t.Name] = -len(f.Skipped)
			} else {
				f.Tensors = append(f.Tensors, t)
				f.byTen[t.Name] = len(f.Tensors) - 1
			}
		}
	}
	return nil
}

// Whole is the size in bytes of the file with its other parts.
func (f *File) Whole() int64 {
	n := f.Size
	for _, p := range f.parts {
		n += p.Size
	}
	return n
}

// Beside says whether t lies in another part of a split file than the first, and
// so not in Map.
func (t *Tensor) Beside() bool { return t.part != nil }
