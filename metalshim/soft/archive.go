package soft

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/msl"
	"github.com/introgen/introgen/metalshim/soft/archive"
	"github.com/introgen/introgen/metalshim/soft/cache"
	"github.com/introgen/introgen/metalshim/soft/lanes"
	"github.com/introgen/introgen/metalshim/soft/stdlib"
	"github.com/introgen/introgen/trace/names"
)

// compiledFile is an archive on a device.
type compiledFile struct {
	d    *Device
	file *archive.File

	mu   sync.Mutex
	done bool
}

// NewArchive opens the archive at path, or begins one. It holds libraries and
// pipelines.
func (d *Device) NewArchive(path string) (metalshim.Archive, error) {
	if d.keep != nil {
		return nil, fmt.Errorf("archive %s: %s", path, d.keep.why())
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("archive %s: %w", path, err)
	}
	file, err := archive.Open(path, d.origin())
	if err != nil {
		return nil, err
	}
	if why := file.Replaced(); why != "" {
		d.o.Note("archive", fmt.Sprintf("archive %s gives nothing and will be replaced: %s", path, why))
	}
	d.live.Archives.Add(1)
	return &compiledFile{d: d, file: file}, nil
}

// origin says how the device makes code.
func (d *Device) origin() archive.Origin {
	processor := cpuName()
	if d.o.Processor != "" {
		processor = d.o.Processor
	}
	return archive.Origin{
		Driver:    "soft",
		Compiler:  d.Compiler(),
		Processor: processor,
		// The path of the compiler, which is part of its stamp, is nobody's business.
		CompilerID:  cache.KeyOf(d.tools.Version, d.tools.Stamp).String(),
		ProcessorID: cache.KeyOf(cpuIdentity(), strings.Join(d.target(), "\x00")).String(),
		Steps:       cache.KeyOf(stdlib.Header(), msl.Version(), lanes.Version, lanes.Header, passVersion).String(),
	}
}

// NewLibrary takes the library from the archive, or makes and adds it.
func (f *compiledFile) NewLibrary(ctx context.Context, src metalshim.Source) (metalshim.Library, error) {
	if f.released() {
		return nil, fmt.Errorf("metal library %s: its archive: %w", src.Name, metalshim.ErrReleased)
	}
	return f.d.newLibrary(ctx, src, f)
}

// obtain is the device's, but that it looks in the archive first. A nil archive,
// and a released one, is none.
func (f *compiledFile) obtain(ctx context.Context, d *Device, kind string, key cache.Key, build func() (payload, meta []byte, err error)) (*made, error) {
	if f == nil || f.released() {
		return d.obtain(ctx, kind, key, build)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	payload, meta, why := f.file.Get(kind, key)
	if why == "" {
		return &made{payload, meta, metalshim.Evidence{State: names.CacheArchive, Key: key.String(), Bytes: int64(len(payload))}}, nil
	}
	m, err := d.obtain(ctx, kind, key, build)
	if err != nil {
		return nil, err
	}
	m.evidence.Archive = why
	if d.tools.Changed() {
		m.note(d, notKept, "the compiler has been replaced since this process began")
	} else {
		f.file.Put(kind, key, m.payload, m.meta)
	}
	return m, nil
}

func (f *compiledFile) released() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.done
}

// Save writes what was added. A file that its user has made read-only stays as it
// is, which is noted.
func (f *compiledFile) Save() error {
	if f.released() {
		return fmt.Errorf("archive: %w", metalshim.ErrReleased)
	}
	err := f.file.Save()
	if errors.Is(err, archive.ErrReadOnly) {
		f.d.o.Note("archive", err.Error())
		return nil
	}
	return err
}

// Release gives the archive back.
func (f *compiledFile) Release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.done {
		f.done = true
		f.d.live.Archives.Add(-1)
	}
}
