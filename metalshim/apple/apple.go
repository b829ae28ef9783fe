// Package apple drives the real Metal, through Objective-C messages and
// without cgo (see package objc). docs/metal.md says which call of metalshim
// becomes which messages, who owns what, and what only a Mac can show.
//
// The same code runs on Linux against a stand-in for Apple's libraries, which
// checks every message; that is for tests.
package apple

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/objc"
)

// EnvStandIn names, on systems that are not macOS, the library that stands in
// for Apple's.
const EnvStandIn = "INTROGEN_OBJC_STANDIN"

// Options for Open. The zero value is what a user of a Mac gets.
type Options struct {
	// Libraries are what is loaded instead of Apple's runtime and frameworks.
	// A path that is empty is the system's own; only macOS has any.
	Libraries objc.Libraries
	// Device chooses a device by its name or by its registry ID in decimal;
	// "" is the system's default one.
	Device string
	// LanguageVersion is what sources without one are compiled as, "3.1"; ""
	// is the newest that the system has, 3.2 at most.
	LanguageVersion string
	// Note hears of what is unusual but no error, and which kind of it that is. It
	// may be nil.
	Note func(kind, text string)
	// NoResidency leaves out the residency set that candle 0.11.0 keeps all
	// buffers in on macOS 15 and later.
	NoResidency bool
}

// Device is a Metal device. It implements metalshim.Device.
type Device struct {
	a        *api
	d        mtlDevice
	o        Options
	info     metalshim.Info
	family   Family
	language uint64  // MTLLanguageVersion of sources that state none
	besides  besides // compiles

	residency residency
	live      metalshim.Tally
	mu        sync.Mutex
	queues    map[*queue]bool
	closed    bool
}

var (
	_ metalshim.Device             = (*Device)(nil)
	_ metalshim.Archiver           = (*Device)(nil)
	_ metalshim.ConcurrentCompiler = (*Device)(nil)
)

// Open loads the libraries and opens a device. No device is an error that
// wraps metalshim.ErrNoDevice.
func Open(ctx context.Context, o Options) (*Device, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a, err := load(o.Libraries)
	if err != nil {
		return nil, err
	}
	d := &Device{a: a, o: o, queues: map[*queue]bool{}}
	defer a.Push().Pop()
	if d.d, err = a.choose(o.Device); err != nil {
		return nil, err
	}
	if err := d.start(); err != nil {
		d.d.release()
		return nil, err
	}
	return d, nil
}

// start learns what the device is and has.
func (d *Device) start() error {
	version := d.a.process().operatingSystemVersion()
	language := d.o.LanguageVersion
	if language == "" {
		language = newestLanguage(version)
	}
	var err error
	if d.language, err = languageVersion(language); err != nil {
		return err
	}
	d.family = d.d.families()
	threads := d.d.maxThreadsPerThreadgroup()
	d.info = metalshim.Info{
		Driver: "apple", Name: d.d.name(), Architecture: d.d.architecture(), RegistryID: d.d.registryID(),
		MaxThreadsPerThreadgroup: int(threads.Width),
		MaxThreadgroupMemory:     int(d.d.maxThreadgroupMemoryLength()),
		MaxBufferLength:          int64(min(d.d.maxBufferLength(), 1<<62)),
		UnifiedMemory:            d.d.hasUnifiedMemory(),
	}
	d.info.Detail = fmt.Sprintf("%s, %v, macOS %d.%d.%d", d.info.Name, d.family, version.Major, version.Minor, version.Patch)
	if d.o.NoResidency {
		d.residency.why = "not wanted"
	} else {
		d.residency.open(d.d)
	}
	return nil
}

// Info describes the device.
func (d *Device) Info() metalshim.Info { return d.info }

// Live counts the objects that are not yet released.
func (d *Device) Live() metalshim.Counts { return d.live.Counts() }

// Close waits for what is in flight and releases the device.
func (d *Device) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	queues := slices.Collect(maps.Keys(d.queues))
	d.mu.Unlock()
	for _, q := range queues {
		q.Release()
	}
	defer d.a.Push().Pop()
	d.residency.close()
	d.d.release()
	return nil
}

// note tells of what is unusual.
func (d *Device) note(kind, text string) {
	if d.o.Note != nil {
		d.o.Note(kind, text)
	}
}

// usable is the error of a device that was closed.
func (d *Device) usable(what string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return fmt.Errorf("metal %s: the device is closed: %w", what, metalshim.ErrReleased)
	}
	return nil
}

// standInOnly is what a system without Metal answers.
func standInOnly() error {
	return fmt.Errorf("apple metal driver: %s has no Metal: use a Mac, or for tests a stand-in for Apple's libraries, whose path $%s gives", runtime.GOOS, EnvStandIn)
}
