package candle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/system/files"
	"github.com/introgen/introgen/system/terminal"
	"github.com/introgen/introgen/system/tools"
)

// scratchPrefix begins the names of the folders in which a fetch works, which
// are left behind only by a killed process.
const scratchPrefix = ".unfinished-"

// maxCrate bounds a .crate file, in bytes. That of 0.11.0 has 140 kB.
const maxCrate = 32 << 20

// Options is what Fetch can be told. The zero value has a meaning.
type Options struct {
	Version string // "" is Experiment
	Dir     string // "" is Dir()
	Meter   *terminal.Meter
}

// Fetch brings the kernels of one version into the folder, unless they are
// there and whole, and opens them. The set appears at once and whole, or not at
// all.
func Fetch(ctx context.Context, o Options) (*kernels.Set, error) {
	if o.Version == "" {
		o.Version = Experiment
	}
	if o.Dir == "" {
		dir, err := Dir()
		if err != nil {
			return nil, err
		}
		o.Dir = dir
	}
	if s, err := Open(o.Dir, o.Version); err == nil || !version.MatchString(o.Version) {
		return s, err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot create the kernels' folder: %w", err)
	}
	unlock, err := files.Lock(ctx, filepath.Join(o.Dir, ".lock"), func() {
		o.Meter.Say("another introgen is fetching into this folder: waiting for it")
	})
	if err != nil {
		return nil, err
	}
	defer unlock()
	s, err := Open(o.Dir, o.Version)
	if err == nil { // another one brought them meanwhile
		return s, nil
	}
	if !errors.Is(err, ErrAbsent) {
		o.Meter.Say("%v", err)
	}
	if err := files.Sweep(o.Dir, scratchPrefix); err != nil {
		return nil, err
	}
	if err := bring(ctx, o); err != nil {
		return nil, err
	}
	return Open(o.Dir, o.Version)
}

// bring gets the crate and puts its kernels in place.
func bring(ctx context.Context, o Options) (err error) {
	cargo, err := tools.Find(ctx, "cargo")
	if err != nil {
		return fmt.Errorf("%w; without it, --kernels takes a folder with candle's .metal files or a .crate file of %s", err, pkg)
	}
	scratch, err := os.MkdirTemp(o.Dir, scratchPrefix+"*")
	if err != nil {
		return fmt.Errorf("cannot create a scratch folder: %w", err)
	}
	defer os.RemoveAll(scratch)

	step := o.Meter.Start(fmt.Sprintf("%s %s with cargo", pkg, o.Version), 0)
	stop := step.Follow(func() int64 { return 0 }) // cargo does not say how far it is
	p := &project{cargo: cargo, dir: filepath.Join(scratch, "project"), v: o.Version}
	b, sum, err := p.crate(ctx)
	stop()
	if err == nil {
		step.Set(int64(len(b)))
	}
	step.Done(err)
	if err != nil {
		return err
	}
	set := filepath.Join(scratch, "set")
	if err := unpack(b, sum, o.Version, set); err != nil {
		return err
	}
	return replace(set, folder(o.Dir, o.Version), filepath.Join(scratch, "old"))
}

// crate lets cargo get the crate and returns its bytes, which have the checksum
// that the registry's index states.
func (p *project) crate(ctx context.Context) (b []byte, sum string, err error) {
	if err := p.create(); err != nil {
		return nil, "", fmt.Errorf("cannot write a package for cargo: %w", err)
	}
	if err := p.fetch(ctx); err != nil {
		return nil, "", err
	}
	if sum, err = p.checksum(); err != nil {
		return nil, "", err
	}
	file, err := p.crateFile(ctx)
	if err != nil {
		return nil, "", err
	}
	if b, err = files.ReadAtMost(file, maxCrate); err != nil {
		return nil, "", err
	}
	got := sha256.Sum256(b)
	if hex.EncodeToString(got[:]) != sum {
		return nil, "", fmt.Errorf("%s has SHA-256 %x; cargo's lock file states %s: remove it, so that cargo gets it again", file, got, sum)
	}
	return b, sum, nil
}

// unpack writes the kernels of a crate and their manifest to dir, which it makes.
func unpack(b []byte, sum, v, dir string) error {
	c, err := kernels.ReadCrate(bytes.NewReader(b))
	if err != nil {
		return fmt.Errorf("crate %s %s: %w", pkg, v, err)
	}
	if c.Name != pkg || c.Version != v {
		return fmt.Errorf("crate %s %s: its manifest says %s %s", pkg, v, c.Name, c.Version)
	}
	if _, err := kernels.New(ref(v), dir, c.Licence, c.Files); err != nil {
		return err
	}
	m := &manifest{Format: manifestFormat, Origin: "the Rust crate " + pkg + " " + v + ", through cargo",
		Crate: pkg, Version: v, CrateSHA256: sum, Licence: c.Licence, Files: map[string]source{}}
	for name, text := range c.Files {
		m.Files[name] = sourceOf(text)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("cannot unpack %s: %w", pkg, err)
	}
	return m.write(dir, c.Files)
}

// replace gives a finished folder its name. A damaged one of that name goes to
// old, and back where the new one cannot take its place.
func replace(from, to, old string) error {
	err := os.Rename(to, old)
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("cannot replace damaged kernels: %w", err)
	}
	had := err == nil
	if err := os.Rename(from, to); err != nil {
		if had {
			err = errors.Join(err, os.Rename(old, to))
		}
		return fmt.Errorf("cannot put the kernels in place: %w", err)
	}
	return nil
}
