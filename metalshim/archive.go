package metalshim

import (
	"context"
	"errors"
	"fmt"
)

// Archive is compiled code in a file of the user's, apart from the driver's own
// cache. What an archive gives has the state names.CacheArchive, what it does not
// give is made as without one, and added; Evidence.Archive then says why.
//
// It is used as the device is, by several goroutines at once.
type Archive interface {
	// NewLibrary is the device's, but for where the library comes from. Its
	// NewPipeline looks in the archive too.
	NewLibrary(ctx context.Context, src Source) (Library, error)
	// Save writes the file, all or nothing, unless it holds all of it already.
	Save() error
	// Release gives the archive back. What came from it stays.
	Release()
}

// Archiver is a device that has archives.
type Archiver interface {
	// NewArchive opens the archive at path, or begins one where no file is. A file
	// that is damaged, or was made by another compiler or for another device, gives
	// nothing and is replaced by Save; one that is no archive is an error.
	NewArchive(path string) (Archive, error)
}

// NewArchive opens an archive on d, or says that d has none: an error that wraps
// errors.ErrUnsupported.
func NewArchive(d Device, path string) (Archive, error) {
	can, ok := d.(Archiver)
	if !ok {
		return nil, fmt.Errorf("archive %s: the driver %s has no archives: %w", path, d.Info().Driver, errors.ErrUnsupported)
	}
	return can.NewArchive(path)
}

// NewArchive opens an archive whose libraries and pipelines are timed, and end in
// the nonce, as those of the device.
func (d *Instrumented) NewArchive(path string) (Archive, error) {
	a, err := NewArchive(d.Device, path)
	if err != nil {
		return nil, err
	}
	return &timedArchive{a, d}, nil
}

type timedArchive struct {
	Archive
	d *Instrumented
}

func (a *timedArchive) NewLibrary(ctx context.Context, src Source) (Library, error) {
	return a.d.newLibrary(ctx, src, a.Archive.NewLibrary)
}
