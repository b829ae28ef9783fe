// Package drivers opens a Metal driver by its name, and says of each what a
// run records beside its device.
package drivers

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple"
	"github.com/introgen/introgen/metalshim/apple/objc"
	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/metalshim/soft"
)

// Names of drivers. Auto is Apple on macOS and Soft elsewhere.
const (
	Auto  = "auto"
	Soft  = "soft"
	Apple = "apple"
)

// Names are those that Open takes.
var Names = []string{Auto, Soft, Apple}

// Driver is an open driver.
type Driver interface {
	metalshim.Device
	// Compiler names what compiles: "clang 19.1.7", "MSL 3.1".
	Compiler() string
	// Folder measures the cache now; ok is false where there is none.
	Folder() (f Folder, ok bool)
	// Models is why the device cannot run a model's kernels, nil if it can. It
	// is asked before anything is compiled.
	Models() error
	// System describes, in one line, the system and its present state where the
	// driver knows more than others do; "" otherwise.
	System() string
}

// Known is the error of a name that is none of a driver. Apple's may be followed
// by a colon and the name or the registry ID of one of its devices.
func Known(name string) error {
	base, device, chosen := strings.Cut(name, ":")
	if !slices.Contains(Names, base) || chosen && (base != Apple || device == "") {
		return fmt.Errorf("metal driver %q: %s are allowed, and apple:DEVICE", name, strings.Join(Names, ", "))
	}
	return nil
}

// isApple says whether Open opens Apple's driver by that name.
func isApple(name string) bool {
	base, _, _ := strings.Cut(name, ":")
	return base == Apple || base == Auto && runtime.GOOS == "darwin"
}

// Stopper is a driver that can end what runs. Apple's cannot: its own time limit
// does.
type Stopper interface {
	// Running says which dispatch is under way, and for how long; ok is false
	// where none is.
	Running() (what string, ran time.Duration, ok bool)
	// Stop ends it, and has nothing begin that was committed.
	Stop()
}

// Options for Open. The zero value is what a user gets.
type Options struct {
	// Note hears of what is unusual but no error, and which kind of it that is: of
	// one kind there may be hundreds. It may be nil.
	Note func(kind, text string)
	// Timeout is how long a command buffer may run, 0 for ever. nil: what the
	// environment says, else as the driver thinks right.
	Timeout *time.Duration
	// Keep is a folder for all that the driver generates; "" keeps nothing.
	Keep string
}

// EnvTimeout sets Options.Timeout where that is nil.
const EnvTimeout = soft.EnvTimeout

// ParseTimeout reads a time limit of command buffers. knob is named in the error.
func ParseTimeout(knob, text string) (time.Duration, error) { return soft.ParseTimeout(knob, text) }

// Errors of options that a driver cannot follow. What it returns wraps one of them,
// and says why.
var (
	ErrTimeout = errors.New("the time limit of a command buffer can be set for the soft driver only")
	ErrKeep    = errors.New("what is generated can be kept from the soft driver only")
)

func (o Options) soft() soft.Options {
	out := soft.Options{Note: o.Note, Keep: o.Keep}
	if o.Timeout != nil {
		out.KernelLimit, out.BufferLimit = soft.Limited(*o.Timeout)
	}
	return out
}

// Open opens a driver.
func Open(ctx context.Context, name string, o Options) (Driver, error) {
	if err := Known(name); err != nil {
		return nil, err
	}
	_, device, _ := strings.Cut(name, ":")
	if isApple(name) {
		return openApple(ctx, device, o)
	}
	d, err := soft.Open(ctx, o.soft())
	if err != nil {
		return nil, err
	}
	return softDriver{d}, nil
}

type softDriver struct{ *soft.Device }

func (d softDriver) Models() error  { return nil }
func (d softDriver) System() string { return "" }
func (d softDriver) Folder() (Folder, bool) {
	dir, ok := d.CacheDir()
	if !ok {
		return Folder{}, false
	}
	return softFolder(dir)
}

type appleDriver struct{ *apple.Device }

func (d appleDriver) Models() error    { return d.Simdgroups() }
func (d appleDriver) Compiler() string { return "MSL " + d.Language() }

func (d appleDriver) Folder() (Folder, bool) { return appleFolder() }

func (d appleDriver) System() string {
	f, err := d.Facts()
	if err != nil {
		return err.Error()
	}
	return f.String()
}

// standInDriver is the apple driver over the stand-in over the soft driver, all
// of which it closes.
type standInDriver struct {
	appleDriver
	server *standin.Server
	behind softDriver
}

func openApple(ctx context.Context, device string, o Options) (Driver, error) {
	standIn, with := standInAsked()
	if !with {
		if o.Timeout != nil {
			return nil, fmt.Errorf("%w: apple's is the system's own", ErrTimeout)
		}
		if o.Keep != "" {
			return nil, fmt.Errorf("%w: apple's compiler shows none of its steps", ErrKeep)
		}
		d, err := apple.Open(ctx, apple.Options{Device: device, Note: o.Note})
		if err != nil {
			return nil, err
		}
		return appleDriver{d}, nil
	}
	behind, server, libraries, err := openStandIn(ctx, standIn, o)
	if err != nil {
		return nil, err
	}
	d, err := apple.Open(ctx, apple.Options{Device: device, Note: o.Note, Libraries: libraries})
	if err != nil {
		return nil, errors.Join(err, server.Close(), behind.Close())
	}
	return standInDriver{appleDriver{d}, server, softDriver{behind}}, nil
}

// openStandIn serves the stand-in that text names by the soft driver.
func openStandIn(ctx context.Context, text string, o Options) (behind *soft.Device, server *standin.Server, libraries objc.Libraries, err error) {
	path, show, err := standin.Parse(text)
	if err != nil {
		return nil, nil, libraries, fmt.Errorf("%s: %w", apple.EnvStandIn, err)
	}
	if path == standin.BuildPath {
		if path, err = standin.Build(ctx); err != nil {
			return nil, nil, libraries, err
		}
	}
	if behind, err = soft.Open(ctx, o.soft()); err != nil {
		return nil, nil, libraries, err
	}
	if server, err = standin.Serve(path, behind, show); err != nil {
		return nil, nil, libraries, errors.Join(err, behind.Close())
	}
	return behind, server, objc.Libraries{Runtime: path, Foundation: path, Metal: path}, nil
}

// Devices lists the devices that Apple's driver has, each as --driver apple: takes it
// and what it is: "Apple M2 (4294968389), the default one, Apple8, Mac2, Metal3". A
// system without Metal is an error.
func Devices(ctx context.Context) (list []string, err error) {
	var o apple.Options
	if standIn, with := standInAsked(); with {
		behind, server, libraries, wrong := openStandIn(ctx, standIn, Options{})
		if wrong != nil {
			return nil, wrong
		}
		defer func() { err = errors.Join(err, server.Close(), behind.Close()) }()
		o.Libraries = libraries
	}
	devices, err := apple.Devices(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, d := range devices {
		list = append(list, d.String())
	}
	return list, nil
}

// Running is what the soft driver runs.
func (d standInDriver) Running() (what string, ran time.Duration, ok bool) { return d.behind.Running() }

// Stop stops the soft driver.
func (d standInDriver) Stop() { d.behind.Stop() }

// Folder is the soft driver's: there the code is compiled.
func (d standInDriver) Folder() (Folder, bool) { return d.behind.Folder() }

// Close reports what the stand-in found left behind.
func (d standInDriver) Close() error {
	return errors.Join(d.Device.Close(), d.server.Close(), d.behind.Close())
}
