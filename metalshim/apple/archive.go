package apple

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/system/files"
	"github.com/introgen/introgen/trace/names"
)

// archive is an MTLBinaryArchive: compiled pipelines in a file of ours, apart from
// the system's own cache. Unlike that one it says what it has. Libraries are not in
// it: they are compiled from their source, or taken from the system's cache.
//
// Beside the file lies another, the origin, with the system and the device that have
// written it and its digest. So it is known why an archive gives nothing after an
// update, and a damaged one is not shown to the system at all.
type archive struct {
	d    *Device
	path string
	here origin
	why  string // it gives nothing; "": it may

	mu    sync.RWMutex // an archive is changed by one thread at a time, while nobody looks in it
	x     mtlArchive
	added int // pipelines
	done  bool
}

// Why an archive does not give something.
const (
	notInIt         = "not in it"
	fresh           = "it is new"
	holdsNoLibrary  = "an MTLBinaryArchive holds pipelines alone"
	archiveReleased = "it has been released"
)

// NewArchive opens the archive at path, or begins one. A file whose origin says that
// another system or device has written it, that was damaged since, or that the
// system refuses, gives nothing, which is noted, and Save replaces it. One without
// an origin that the system refuses is an error: it may be anything.
func (d *Device) NewArchive(path string) (metalshim.Archive, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("metal binary archive: %w", err)
	}
	if err := d.usable("binary archive " + path); err != nil {
		return nil, err
	}
	defer d.a.Push().Pop()
	x := &archive{d: d, path: path, here: d.origin()}
	if err := x.open(); err != nil {
		return nil, fmt.Errorf("metal binary archive %s: %w", path, err)
	}
	if x.why != "" && x.why != fresh {
		d.note("archive", fmt.Sprintf("archive %s gives nothing and will be replaced: %s", path, x.why))
	}
	d.live.Archives.Add(1)
	return x, nil
}

// open makes x.x and says why. It is called within a pool.
func (x *archive) open() error {
	sum, err := digestOf(x.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.why = fresh
		return x.begin()
	case err != nil:
		return err
	}
	told, why := readOrigin(x.path)
	if told != nil {
		why = told.differs(x.here, sum)
	}
	if x.why = why; why != "" {
		return x.begin()
	}
	desc := x.d.a.newArchiveDescriptor()
	defer desc.release()
	url, err := x.d.a.FileURL(x.path)
	if err != nil {
		return err
	}
	desc.setURL(url)
	x.x, err = x.d.d.newBinaryArchive(desc)
	switch {
	case err == nil:
		return nil
	case told == nil:
		return fmt.Errorf("%w; remove it to begin a new one", err)
	}
	x.why = fmt.Sprintf("the system refuses it: %v", err)
	return x.begin()
}

// begin makes an empty archive.
func (x *archive) begin() (err error) {
	desc := x.d.a.newArchiveDescriptor()
	defer desc.release()
	x.x, err = x.d.d.newBinaryArchive(desc)
	return err
}

// digestOf is a file's SHA-256 in hexadecimal. The file must be the user's alone.
func digestOf(path string) (string, error) {
	f, err := files.OpenPrivate(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// NewLibrary makes a library whose pipelines are looked for in the archive.
func (x *archive) NewLibrary(ctx context.Context, src metalshim.Source) (metalshim.Library, error) {
	if x.released() {
		return nil, fmt.Errorf("metal binary archive %s: %w", x.path, metalshim.ErrReleased)
	}
	made, err := x.d.NewLibrary(ctx, src)
	if err != nil {
		return nil, err
	}
	made.(*library).archive = x
	return made, nil
}

func (x *archive) released() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.done
}

// pipeline takes a pipeline from the archive, or compiles it and adds it; its
// Evidence says which. It is called within a pool.
func (x *archive) pipeline(l *library, function string, constants []metalshim.Constant) (metalshim.Pipeline, error) {
	f, err := l.function(function, constants)
	if err != nil {
		return nil, err
	}
	defer f.release()
	label, err := x.d.a.NewString(function)
	if err != nil {
		return nil, fmt.Errorf("metal pipeline %s: %w", function, err)
	}
	defer x.d.a.Release(label)
	desc := x.d.a.newPipelineDescriptor()
	defer desc.release()
	desc.setLabel(label)
	desc.setComputeFunction(f)
	p, why, err := x.look(desc)
	if err != nil {
		return nil, l.pipelineError(function, err)
	}
	if why == "" {
		return l.pipeline(p, function, constants, metalshim.Evidence{State: names.CacheArchive}), nil
	}
	e := metalshim.Evidence{Archive: why} // what the system's own cache had, it does not say
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.done {
		return l.pipeline(p, function, constants, e), nil
	}
	if err := x.x.add(desc); err != nil {
		e.Note = fmt.Sprintf("not kept in %s: %v", x.path, err)
	} else {
		x.added++
	}
	return l.pipeline(p, function, constants, e), nil
}

// look makes the pipeline of desc from the archive, or else compiles it: then why
// says why the archive did not give it.
func (x *archive) look(desc mtlPipelineDescriptor) (p mtlPipeline, why string, err error) {
	compiled := func(options uint64) (mtlPipeline, error) {
		return aloneOrBeside(x.d,
			func() (mtlPipeline, error) { return x.d.d.newPipelineWithDescriptor(desc, options) },
			func() (mtlPipeline, error) { return x.d.d.newPipelineWithDescriptorBeside(desc, options) })
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	why = x.why
	if x.done {
		why = archiveReleased
	} else {
		desc.setBinaryArchives(x.d.a.Array(x.x.o))
		if p, err := compiled(failOnArchiveMiss); err == nil {
			return p, "", nil
		}
		if why == "" {
			why = notInIt
		}
	}
	p, err = compiled(0)
	return p, why, err
}

// partials tells the unfinished files of a process apart.
var partials atomic.Int64

// Save writes the archive and its origin, unless nothing was added. A file that its
// user has made read-only stays as it is, which is noted.
func (x *archive) Save() (err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.done {
		return fmt.Errorf("metal binary archive %s: %w", x.path, metalshim.ErrReleased)
	}
	if x.added == 0 {
		return nil
	}
	if is, err := os.Lstat(x.path); err == nil && is.Mode().IsRegular() && is.Mode().Perm()&0o200 == 0 {
		x.d.note("archive", fmt.Sprintf("archive %s: it is read-only (mode %04o), so %d pipelines that it lacks were not added", x.path, is.Mode().Perm(), x.added))
		return nil
	}
	partial := fmt.Sprintf("%s.%d-%d.partial", x.path, os.Getpid(), partials.Add(1))
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("metal binary archive %s: %w", x.path, err), removed(partial))
		}
	}()
	if err := x.serialize(partial); err != nil {
		return err
	}
	if err := os.Chmod(partial, 0o600); err != nil {
		return err
	}
	here := x.here
	if here.Digest, err = digestOf(partial); err != nil {
		return err
	}
	if err := os.Rename(partial, x.path); err != nil {
		return err
	}
	x.added = 0
	return here.write(x.path)
}

func (x *archive) serialize(path string) error {
	defer x.d.a.Push().Pop()
	url, err := x.d.a.FileURL(path)
	if err != nil {
		return err
	}
	return x.x.serialize(url)
}

// removed removes a file that may not be there.
func removed(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Release gives it back. Its pipelines stay, and its libraries make theirs without it.
func (x *archive) Release() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.done {
		return
	}
	x.done = true
	x.d.live.Archives.Add(-1)
	defer x.d.a.Push().Pop()
	x.x.release()
}
