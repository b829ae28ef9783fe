package gguf

import (
	"fmt"
	"path/filepath"
	"regexp"
)

// What llama-gguf-split writes into the parts of a file. A merged file keeps the
// keys, with a count of 0.
const (
	keySplitNo    = "split.no"
	keySplitCount = "split.count"
)

// partName is how llama-gguf-split names a part.
var partName = regexp.MustCompile(`^(.+-)[0-9]{5}(-of-[0-9]{5}\.gguf)$`)

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

// CheckWhole refuses a part of a split file, which holds some of the model's
// tensors only, and says what merges the parts.
func (f *File) CheckWhole() error {
	part, of, err := f.Part()
	if err != nil || of == 1 {
		return err
	}
	first := "FIRST-PART"
	if m := partName.FindStringSubmatch(filepath.Base(f.Path)); m != nil {
		first = m[1] + "00001" + m[2]
	}
	return fmt.Errorf("gguf %s: is part %d of %d of a split file (metadata split.no, split.count); merge the parts with `llama-gguf-split --merge %s OUT` and give OUT", f.Path, part, of, first)
}
