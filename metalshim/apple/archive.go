package apple

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/trace/names"
)

// Archive is an MTLBinaryArchive: compiled pipelines in a file of ours, apart
// from the system's own cache. Unlike that one it says what it has, so it
// tells a cold pipeline from a warm one.
type Archive struct {
	d    *Device
	mu   sync.Mutex // an archive is changed by one thread at a time
	x    mtlArchive
	path string
	done bool
}

// NewArchive reads the archive at path, or begins an empty one if there is no
// such file. A file that is none of this device and system is an error.
func (d *Device) NewArchive(path string) (*Archive, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("metal binary archive: %w", err)
	}
	if err := d.usable("binary archive " + path); err != nil {
		return nil, err
	}
	defer d.a.Push().Pop()
	desc := d.a.newArchiveDescriptor()
	defer desc.release()
	switch _, err := os.Stat(path); {
	case err == nil:
		url, err := d.a.FileURL(path)
		if err != nil {
			return nil, fmt.Errorf("metal binary archive: %w", err)
		}
		desc.setURL(url)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("metal binary archive: %w", err)
	}
	x, err := d.d.newBinaryArchive(desc)
	if err != nil {
		return nil, fmt.Errorf("metal binary archive %s: %w; remove it to begin a new one", path, err)
	}
	d.archives.Add(1)
	return &Archive{d: d, x: x, path: path}, nil
}

// NewPipeline takes a pipeline from the archive, or compiles it and adds it;
// its Evidence says which. lib is a library of the archive's device.
func (x *Archive) NewPipeline(ctx context.Context, lib metalshim.Library, function string, constants []metalshim.Constant) (metalshim.Pipeline, error) {
	var out *pipeline
	err := x.with(ctx, lib, function, constants, func(l *library, desc mtlPipelineDescriptor) error {
		if p, err := x.d.d.newPipelineWithDescriptor(desc, failOnArchiveMiss); err == nil {
			out = l.pipeline(p, function, constants, metalshim.Evidence{State: names.CacheHit})
			return nil
		}
		p, err := x.d.d.newPipelineWithDescriptor(desc, 0)
		if err != nil {
			return l.pipelineError(function, err)
		}
		e := metalshim.Evidence{State: names.CacheMiss}
		if err := x.x.add(desc); err != nil {
			e.Note = fmt.Sprintf("not kept in %s: %v", x.path, err)
		}
		out = l.pipeline(p, function, constants, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Has probes whether the archive has a pipeline. Nothing is compiled for that,
// so an archive that an earlier run has saved tells whether this run's
// pipelines are the same ones, for the same device and system: what the
// system's own cache may have kept too.
func (x *Archive) Has(ctx context.Context, lib metalshim.Library, function string, constants []metalshim.Constant) (bool, error) {
	has := false
	err := x.with(ctx, lib, function, constants, func(_ *library, desc mtlPipelineDescriptor) error {
		if p, err := x.d.d.newPipelineWithDescriptor(desc, failOnArchiveMiss); err == nil {
			p.release()
			has = true
		}
		return nil
	})
	return has, err
}

// with makes the descriptor of a pipeline that is looked for in the archive.
func (x *Archive) with(ctx context.Context, lib metalshim.Library, function string, constants []metalshim.Constant, do func(*library, mtlPipelineDescriptor) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l, ok := lib.(*library)
	if !ok || l.d != x.d {
		return fmt.Errorf("metal binary archive %s: the library is of another device", x.path)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.done {
		return fmt.Errorf("metal binary archive %s: %w", x.path, metalshim.ErrReleased)
	}
	defer x.d.a.Push().Pop()
	f, err := l.function(function, constants)
	if err != nil {
		return err
	}
	defer f.release()
	label, err := x.d.a.NewString(function)
	if err != nil {
		return fmt.Errorf("metal pipeline %s: %w", function, err)
	}
	defer x.d.a.Release(label)
	desc := x.d.a.newPipelineDescriptor()
	defer desc.release()
	desc.setLabel(label)
	desc.setComputeFunction(f)
	desc.setBinaryArchives(x.d.a.Array(x.x.o))
	return do(l, desc)
}

// Save writes the archive to its path, all or nothing. An archive that nothing
// was added to may be refused by the system.
func (x *Archive) Save() (err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.done {
		return fmt.Errorf("metal binary archive %s: %w", x.path, metalshim.ErrReleased)
	}
	partial := fmt.Sprintf("%s.%d.partial", x.path, os.Getpid())
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("metal binary archive %s: %w", x.path, err), removed(partial))
		}
	}()
	if err := x.serialize(partial); err != nil {
		return err
	}
	return os.Rename(partial, x.path)
}

func (x *Archive) serialize(path string) error {
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

// Release gives it back. Its pipelines stay.
func (x *Archive) Release() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.done {
		return
	}
	x.done = true
	x.d.archives.Add(-1)
	defer x.d.a.Push().Pop()
	x.x.release()
}

// Archives is how many archives have been made and not yet released, for which
// metalshim.Counts has no place.
func (d *Device) Archives() int { return int(d.archives.Load()) }
