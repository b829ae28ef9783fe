// Package archive is a file of compiled Metal code that a user asks for by name,
// beside the cache: the soft driver's MTLBinaryArchive, which also holds libraries.
// It can be handed on with a program, and a run that finds all of its code in it
// compiles nothing, whatever the cache holds.
//
// The file says by which compiler, for which processor and by which version of the
// steps in between its code was made. That is for people: it tells why a file gives
// nothing. What decides is an entry's key, which has all of it and the source, and
// its digest. So a file that was damaged gives what it still has, or nothing, and
// never other code. As its code is going to be run, it must be the user's own and
// writable by nobody else.
package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/introgen/introgen/metalshim/soft/cache"
	"github.com/introgen/introgen/system/files"
)

// Limits of a file. What is more is left out when it is written, the entries that
// this run did not use first.
const (
	maxFile    = 512 << 20 // bytes
	maxEntries = 1 << 14
)

// Why an entry is not given.
const (
	notInIt = "not in it"
	damaged = "damaged"
	fresh   = "it is new"
)

// id is what an entry is found by.
type id struct {
	kind string
	key  cache.Key
}

// content is what an entry holds.
type content struct{ payload, meta []byte }

// File is an open archive. Several goroutines may use it.
type File struct {
	path string
	here Origin

	mu      sync.Mutex
	read    *read // what the file held; never nil
	why     string
	added   map[id]content
	used    map[id]bool
	refused map[id]bool // damaged
}

// Open reads the archive at path, or begins one where nothing is. here is how this
// process makes code: a file that was made otherwise gives nothing, nor does a
// damaged one, and Why says so. A file that is no archive, or not the user's alone,
// is an error.
func Open(path string, here Origin) (*File, error) {
	a := &File{path: path, here: here, read: &read{}, added: map[id]content{}, used: map[id]bool{}, refused: map[id]bool{}}
	all, err := load(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return nil, fmt.Errorf("archive %s: %w; make its folder first", path, err)
		}
		a.why = fresh
		return a, nil
	case err != nil:
		return nil, fmt.Errorf("archive %s: %w", path, err)
	}
	if a.read, err = parse(all); err != nil {
		if errors.Is(err, errForeign) {
			return nil, fmt.Errorf("archive %s: %w; name a new file, or one that introgen has written", path, err)
		}
		a.read, a.why = &read{}, fmt.Sprintf("%s: %v", damaged, err)
		return a, nil
	}
	if a.why = a.read.origin.differs(here); a.why != "" {
		a.read = &read{}
	}
	return a, nil
}

// load reads a whole file, which must be the user's alone.
func load(path string) ([]byte, error) {
	f, err := files.OpenPrivate(path)
	if err != nil {
		var named *fs.PathError
		if errors.As(err, &named) {
			err = named.Err
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: the code in it is run, so it must be a file of yours that nobody else can write; name another", err)
	}
	defer f.Close()
	var all bytes.Buffer
	if is, err := f.Stat(); err == nil && is.Size() <= maxFile {
		all.Grow(int(is.Size()) + bytes.MinRead) // it is read in one piece
	}
	if _, err := all.ReadFrom(io.LimitReader(f, maxFile+1)); err != nil {
		return nil, err
	}
	if all.Len() > maxFile {
		return nil, fmt.Errorf("it has more than %d bytes, which an archive never has; name another", maxFile)
	}
	return all.Bytes(), nil
}

// Why says why the file gives nothing: it is new, damaged, or made by another
// compiler, for another processor or by other steps; "" where it gives something.
func (a *File) Why() string { return a.why }

// Replaced says what is in the way of a file that is not new; "" if nothing is.
func (a *File) Replaced() string {
	if a.why == fresh {
		return ""
	}
	return a.why
}

// Entries is how many entries the file gives.
func (a *File) Entries() int { return len(a.read.entries) }

// Get returns an entry's payload and meta, or why there is none.
func (a *File) Get(kind string, key cache.Key) (payload, meta []byte, why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := id{kind, key}
	if c, ok := a.added[at]; ok {
		return c.payload, c.meta, ""
	}
	if a.why != "" {
		return nil, nil, a.why
	}
	e, ok := a.read.entries[at]
	if !ok {
		return nil, nil, notInIt
	}
	c, err := a.read.content(at, e)
	if err != nil {
		a.refused[at] = true
		return nil, nil, fmt.Sprintf("%s: %v", damaged, err)
	}
	a.used[at] = true
	return c.payload, c.meta, ""
}

// Put adds an entry, which Save will write.
func (a *File) Put(kind string, key cache.Key, payload, meta []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := id{kind, key}
	a.added[at], a.used[at] = content{slices.Clone(payload), slices.Clone(meta)}, true
}

// ErrReadOnly is that of Save where the file is not to be changed.
var ErrReadOnly = errors.New("it is read-only")

// Save writes the file, all or nothing, where something was added. What another
// process has added meanwhile stays in it.
func (a *File) Save() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.added) == 0 {
		return nil
	}
	if is, err := os.Lstat(a.path); err == nil && is.Mode().IsRegular() && is.Mode().Perm()&0o200 == 0 {
		return fmt.Errorf("archive %s: %w (mode %04o), so %d entries that it lacks were not added", a.path, ErrReadOnly, is.Mode().Perm(), len(a.added))
	}
	b := newBuilder(a.here)
	put := func(wanted bool, r *read) {
		for _, at := range r.order {
			if a.used[at] != wanted || b.has(at) || a.refused[at] && r == a.read {
				continue
			}
			if c, err := r.content(at, r.entries[at]); err == nil {
				b.add(at, c)
			}
		}
	}
	for _, at := range sorted(a.added) {
		b.add(at, a.added[at])
	}
	now := a.present()
	for _, wanted := range []bool{true, false} {
		put(wanted, a.read)
		put(wanted, now)
	}
	// Its readers check what they read, and what is lost is compiled again.
	if err := files.Write(a.path, b.bytes(), files.Options{Mode: 0o600, Unsynced: true}); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	return nil
}

// present is what the file holds now, if that is of any use here.
func (a *File) present() *read {
	all, err := load(a.path)
	if err != nil {
		return &read{}
	}
	r, err := parse(all)
	if err != nil || r.origin.differs(a.here) != "" {
		return &read{}
	}
	return r
}
