// Package soft is a Metal driver that needs no GPU: it compiles the same
// Metal Shading Language with clang at run time and runs it on the CPU, with
// threadgroups, simdgroups of 32 lanes and barriers. It is no mock: a library
// is compiled to bitcode, a pipeline to machine code, both are kept in a cache
// on disk, so that cold and warm mean what they mean on a Mac, and every
// kernel's numbers are real.
//
// It runs on Linux, on amd64 and arm64, and uses no cgo.
package soft

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/soft/cache"
	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/metalshim/soft/clang/resident"
	"github.com/introgen/introgen/metalshim/soft/native"
)

// EnvForm chooses the form of compiled kernels: "lanes", the vectorised one,
// or "scalar", the masked form that runs lane by lane and serves as the
// oracle of the other.
const EnvForm = "INTROGEN_SOFT"

// Limits of the device that is shown, those of Apple's GPUs.
const (
	maxThreads           = 1024
	maxThreadgroupMemory = 32 << 10
	width                = 32
)

// Options for Open. The zero value is what a user gets.
type Options struct {
	Workers      int           // threads that run kernels; 0: one for each CPU
	Form         string        // "lanes" or "scalar"; "": what INTROGEN_SOFT says, else lanes
	Processor    string        // that code is generated for, one of Processors; "": what INTROGEN_SOFT_PROCESSOR says, else this one
	CacheDir     string        // "": cache.Dir()
	CacheLimit   int64         // bytes; 0: cache.DefaultLimit
	MemoryLimit  int64         // bytes of all buffers together; 0: three quarters of the machine's memory
	CompileLimit time.Duration // of one compiler run; 0: two minutes
	// KernelLimit is how long none of a command buffer's threadgroups may
	// complete, BufferLimit how long it may run. Below 0: for ever. Where both are
	// 0, they are what INTROGEN_COMMAND_BUFFER_TIMEOUT says, else 20 s and for ever.
	KernelLimit, BufferLimit time.Duration
	// Keep is an empty or new folder for what is generated on the way from source to
	// machine code; all of it is generated anew then. "": nothing is kept.
	Keep string
	// Note hears of what is unusual but no error, and which kind of it that is: of
	// one kind there may be hundreds. It may be nil.
	Note func(kind, text string)
}

// Device is the soft driver's metalshim.Device.
type Device struct {
	o     Options
	info  metalshim.Info
	tools *clang.Toolchain
	cache *cache.Cache // nil if it cannot be used
	why   string       // why it cannot
	keep  *keeper      // nil if nothing is kept
	id    string       // compiler and CPU, part of every key
	pool  *native.Pool

	compilers *resident.Compilers
	constants constants
	headers   precompiled

	live   metalshim.Tally
	mu     sync.Mutex
	queues map[*queue]bool
	closed bool

	turn    sync.Mutex // whose it is runs a command buffer
	runs    sync.Mutex // guards what follows
	running *commands  // nil where nothing runs
	stopped bool       // nothing is to run any more
}

// Open finds the compiler, makes the runtime if it is not in the cache, and
// starts the device's threads. Without a clang 19 it fails with a
// *clang.Error that says what to install.
func Open(ctx context.Context, o Options) (*Device, error) {
	if o.Form == "" {
		o.Form = os.Getenv(EnvForm)
	}
	switch o.Form {
	case "":
		o.Form = "lanes"
	case "lanes", "scalar":
	default:
		return nil, fmt.Errorf("%s=%q: it must be lanes or scalar", EnvForm, o.Form)
	}
	if o.Processor == "" {
		o.Processor = os.Getenv(EnvProcessor)
	}
	if err := checkProcessor(o.Processor); err != nil {
		return nil, err
	}
	if o.Workers == 0 {
		o.Workers = runtime.NumCPU()
	}
	if o.CompileLimit == 0 {
		o.CompileLimit = 2 * time.Minute
	}
	if o.KernelLimit == 0 && o.BufferLimit == 0 {
		var err error
		if o.KernelLimit, o.BufferLimit, err = limitsFromEnv(); err != nil {
			return nil, err
		}
	}
	if o.Note == nil {
		o.Note = func(kind, text string) {}
	}
	if o.MemoryLimit == 0 {
		o.MemoryLimit = machineMemory() / 4 * 3
	}
	tools, err := clang.Find(ctx)
	if err != nil {
		return nil, err
	}
	d := &Device{o: o, tools: tools, queues: map[*queue]bool{}}
	d.compilers = resident.New(tools, d.preload)
	if err := d.openCache(); err != nil {
		return nil, err
	}
	if err := d.identify(ctx); err != nil {
		return nil, err
	}
	if o.Keep != "" {
		if d.keep, err = newKeeper(o.Keep, tools, o.Form); err != nil {
			return nil, err
		}
		o.Note("no cache", "cache of compiled kernels: "+d.keep.why())
		if d.keep.disassembler == "" {
			o.Note("no disassembler", "kept code is assembly: "+noDisassembler)
		}
	}
	if err := d.start(ctx); err != nil {
		d.compilers.Close()
		d.constants.close()
		return nil, err
	}
	cores := fmt.Sprintf("%d cores", o.Workers)
	if o.Workers == 1 {
		cores = "1 core"
	}
	detail := fmt.Sprintf("clang %s, %s, %s", tools.Version, cpuName(), cores)
	if o.Form != "lanes" {
		detail += ", " + o.Form
	}
	if o.Processor != "" {
		detail += ", code for " + o.Processor
	}
	d.info = metalshim.Info{
		Driver: "soft", Name: "soft", Detail: detail,
		MaxThreadsPerThreadgroup: maxThreads, MaxThreadgroupMemory: maxThreadgroupMemory,
		MaxBufferLength: o.MemoryLimit, UnifiedMemory: true,
	}
	return d, nil
}

// openCache opens the cache. A folder that cannot be made leaves the device
// without a cache; one that is not private is an error, because somebody may
// have put it there.
func (d *Device) openCache() error {
	dir := d.o.CacheDir
	if dir == "" {
		var err error
		if dir, err = cache.Dir(); err != nil {
			d.noCache(err)
			return nil
		}
	}
	c, err := cache.Open(dir, d.o.CacheLimit)
	var path *os.PathError
	if errors.As(err, &path) {
		d.noCache(err)
		return nil
	}
	d.cache = c
	return err
}

func (d *Device) noCache(err error) {
	d.why = err.Error()
	d.o.Note("no cache", "no cache of compiled kernels: "+d.why)
}

// identify learns the compiler's version, from the cache if the same
// executable has been asked before. A script that stands for it is asked always.
func (d *Device) identify(ctx context.Context) error {
	key := cache.KeyOf("clang", clang.Major, d.tools.Stamp)
	if d.cache != nil && d.tools.Version == "" && !d.tools.Wrapped {
		if e, err := d.cache.Get("clang", key); err == nil && len(e.Payload) < 64 {
			d.tools.Version = string(e.Payload)
		}
	}
	if d.tools.Version == "" {
		if err := d.tools.Identify(ctx); err != nil {
			return err
		}
		if d.cache != nil && !d.tools.Wrapped {
			if err := d.cache.Put("clang", key, []byte(d.tools.Version), nil); err != nil {
				d.o.Note(notKept, err.Error())
			}
		}
	}
	d.id = strings.Join([]string{d.tools.Version, d.tools.Stamp, cpuIdentity()}, "\x00")
	return nil
}

// start compiles or loads the runtime and starts its threads.
func (d *Device) start(ctx context.Context) error {
	flags := append(append([]string{}, native.Flags...), d.target()...)
	key := cache.KeyOf(runtimeEntry, d.id, passVersion, native.Source(), strings.Join(slices.Concat(always, flags), "\x00"))
	made, err := d.obtain(ctx, runtimeEntry, key, func() ([]byte, []byte, error) {
		object, err := d.object(ctx, flags, []byte(native.Source()))
		return object, nil, err
	})
	if err != nil {
		return fmt.Errorf("soft metal driver: its runtime: %w", err)
	}
	rt, err := native.Load(made.payload)
	if err != nil {
		return err
	}
	d.pool, err = rt.NewPool(d.o.Workers)
	return err
}

// Info describes the device.
func (d *Device) Info() metalshim.Info { return d.info }

// CompileThreads is one compiler for each CPU.
func (d *Device) CompileThreads() int { return runtime.NumCPU() }

// Compiler names the compiler and its version.
func (d *Device) Compiler() string { return "clang " + d.tools.Version }

// CacheDir is the cache's folder; ok is false where there is no cache.
func (d *Device) CacheDir() (dir string, ok bool) {
	if d.cache == nil {
		return "", false
	}
	return d.cache.Dir(), true
}

// Live counts the objects that are not yet released.
func (d *Device) Live() metalshim.Counts { return d.live.Counts() }

type fence struct{ metalshim.Held }

// NewFence returns a fence. Commands run in order here, so it does nothing.
func (d *Device) NewFence() (metalshim.Fence, error) {
	f := &fence{}
	f.Begin(&d.live.Fences, func() {})
	return f, nil
}

// Close waits for what is in flight, ends the threads and the resident compilers,
// and frees the memory of the runtime.
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
	d.headers.close()
	d.pool.Close()
	d.compilers.Close()
	d.constants.close()
	return nil
}
