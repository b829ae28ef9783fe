package models

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/system/files"
)

// State is how a model file is.
type State string

// The states. Good and Bad are Verify's; List looks at sizes alone.
const (
	Absent    State = "absent"
	Present   State = "present"
	WrongSize State = "wrong size"
	Good      State = "good"
	Bad       State = "bad"
	Unknown   State = "not the project's" // there is nothing to compare it with
)

// Entry is one model file, there or not.
type Entry struct {
	Name   string
	Path   string
	Size   int64 // bytes on disk, or that it will have where it is absent
	State  State
	Detail string // for people: where it comes from, or what is wrong
}

// List returns the known files, and then the other .gguf files of dir by name.
// It reads no file. A folder that does not exist has no files.
func List(dir string) ([]Entry, error) {
	var out []Entry
	for _, k := range All() {
		e, err := look(dir, k)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list models: %w", err)
	}
	for _, f := range files {
		name := f.Name()
		_, ours := Lookup(name)
		if ours || strings.HasPrefix(name, ".") || filepath.Ext(name) != ".gguf" {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || !info.Mode().IsRegular() {
			continue // gone meanwhile, or a link to nowhere
		}
		out = append(out, Entry{name, filepath.Join(dir, name), info.Size(), Unknown, ""})
	}
	return out, nil
}

// look says whether k is in dir, as far as its size tells.
func look(dir string, k Known) (Entry, error) {
	e := Entry{k.Name, filepath.Join(dir, k.Name), k.Size, Absent, k.Origin}
	st, err := os.Stat(e.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return e, nil
	case err != nil:
		return e, fmt.Errorf("list models: %w", err)
	case !st.Mode().IsRegular():
		e.State, e.Detail = WrongSize, "is not a regular file"
	case st.Size() != k.Size:
		e.State, e.Detail = WrongSize, fmt.Sprintf("expected %d bytes", k.Size)
		e.Size = st.Size()
	default:
		e.State = Present
	}
	return e, nil
}

// Verify reads the named files of dir, or all known ones where none is named,
// and compares size, header and digest with what they must be.
func Verify(ctx context.Context, dir string, names ...string) ([]Entry, error) {
	wanted, err := chosen(names)
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, k := range wanted {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		e, err := look(dir, k)
		if err != nil {
			return nil, err
		}
		switch e.State {
		case WrongSize:
			e.State, e.Detail = Bad, fmt.Sprintf("%d bytes; %s", e.Size, e.Detail)
		case Present:
			e.State = Good
			if e.Detail, err = compare(ctx, e.Path, k); err != nil {
				e.State, e.Detail = Bad, err.Error()
			}
		}
		out = append(out, e)
	}
	return out, nil
}

// chosen looks the names up; no name is all.
func chosen(names []string) ([]Known, error) {
	if len(names) == 0 {
		return All(), nil
	}
	var out []Known
	for _, name := range names {
		k, ok := Lookup(name)
		if !ok {
			var all []string
			for _, k := range All() {
				all = append(all, k.Name)
			}
			return nil, fmt.Errorf("nothing is known to compare %q with; the project's files are %s", name, strings.Join(all, ", "))
		}
		out = append(out, k)
	}
	return out, nil
}

// compare reads the file at path, which has k's size, and says what it was
// compared with.
func compare(ctx context.Context, path string, k Known) (string, error) {
	if err := CheckHeader(path, k); err != nil {
		return "", err
	}
	want, from := k.SHA256, "the project's"
	if want == "" {
		var err error
		if want, err = ReadDigest(path); err != nil {
			return "", err
		}
		from = "the hub's"
	}
	if want == "" {
		return "size and header; no digest is known, since it was not fetched by introgen", nil
	}
	got, err := files.SHA256(ctx, path)
	if err != nil {
		return "", err
	}
	if got != want {
		return "", fmt.Errorf("SHA-256 %s; %s is %s: remove it and run `make setup`", got, from, want)
	}
	return "size, header and " + from + " SHA-256", nil
}

// CheckHeader checks the header of the file at path against k's counts.
func CheckHeader(path string, k Known) error {
	f, err := gguf.Open(path, gguf.MMap)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.KeyCount() != k.Keys || len(f.Tensors) != k.Tensors || f.DataOffset != k.DataOffset {
		return fmt.Errorf("gguf %s: %d keys, %d tensors, data at %d; %s has %d, %d and %d",
			path, f.KeyCount(), len(f.Tensors), f.DataOffset, k.Name, k.Keys, k.Tensors, k.DataOffset)
	}
	return nil
}

// WriteEntries prints entries as a table.
func WriteEntries(w io.Writer, entries []Entry) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "FILE\tBYTES\tSTATE\tNOTE")
	for _, e := range entries {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\n", e.Name, e.Size, e.State, e.Detail)
	}
	return t.Flush()
}
