package soft

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/soft/cache"
	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/metalshim/soft/clang/resident"
	"github.com/introgen/introgen/trace/names"
)

// mathFlags are clang's arguments for a math mode. The fast modes allow sums in
// another order, products joined with sums, and reciprocals (Metal Shading
// Language Specification, "Options Controlling the Math Intrinsics"). Sums stay
// in the order of the source, so that they depend on nothing else; products are
// joined where the lanes pass settles it. Infinities and NaNs are honoured in
// every mode, because kernels use them; half and bfloat round after every
// operation, as on a GPU. A conversion to an integer that cannot hold the number
// gives the nearest that it can, and 0 for what is no number.
func mathFlags(m metalshim.MathMode) []string {
	f := []string{"-fno-math-errno", "-fno-trapping-math", "-mrecip=none", "-fno-strict-float-cast-overflow",
		"-Xclang", "-ffloat16-excess-precision=none", "-Xclang", "-fbfloat16-excess-precision=none"}
	if m == metalshim.MathSafe {
		return append(f, "-ffp-contract=on")
	}
	return append(f, "-fno-signed-zeros", "-freciprocal-math", "-ffp-contract=fast")
}

// language are the arguments for C++ made from MSL.
var language = []string{"-x", "c++", "-std=c++17", "-nostdinc", "-fPIC", "-fvisibility=hidden", "-fno-exceptions",
	"-fno-rtti", "-fno-strict-aliasing", "-fsigned-char", "-fno-stack-protector", "-fno-finite-loops", "-fdeclspec", "-Wno-everything"}

// always are arguments of every run of clang: no file of arguments that lies
// beside it or in the user's folder is read, and a crash leaves no files.
var always = []string{"--no-default-config", "-fno-crash-diagnostics"}

// preprocess are the arguments for MSL itself. The clock is not asked.
var preprocess = []string{"-E", "-nostdinc", "-x", "c++", "-std=c++17", "-Werror=date-time"}

// toBitcode are the arguments, beside language, for what the rewriter makes of
// it. Assembly could read files: it is no part of MSL.
var toBitcode = []string{"-O2", "-Xclang", "-disable-llvm-passes", "-fno-gnu-inline-asm", "-emit-llvm", "-c"}

// run runs the compiler on text, which it reads from its standard input, and
// returns its standard output. It finds files as clang.FilePath(0) and so on.
func (d *Device) run(ctx context.Context, args []string, text []byte, files ...*os.File) ([]byte, error) {
	return d.runWith(ctx, args, text, nil, files...)
}

// runWith is run for arguments that name files which stay what they are: the
// compiler finds them before the other files.
func (d *Device) runWith(ctx context.Context, args []string, text []byte, same []*os.File, files ...*os.File) ([]byte, error) {
	return d.runWithin(ctx, d.o.CompileLimit, args, text, same, files...)
}

// runWithin is runWith with a time limit of its own.
func (d *Device) runWithin(ctx context.Context, limit time.Duration, args []string, text []byte, same []*os.File, files ...*os.File) ([]byte, error) {
	argv := append(slices.Concat(d.tools.Compiler, always, args), "-o", "-", "-")
	out, err := d.compilers.Run(ctx, resident.Command{Same: same,
		Command: clang.Command{Argv: argv, Stdin: text, Files: files, Limit: limit}})
	return out.Stdout, err
}

// object compiles text to an object file, which package native loads as it is:
// what it needs is in the process already. No file is written, so that none is
// left, however the process ends.
func (d *Device) object(ctx context.Context, flags []string, text []byte) ([]byte, error) {
	return d.objectWithin(ctx, d.o.CompileLimit, flags, text)
}

// objectWithin is object with a time limit of its own.
func (d *Device) objectWithin(ctx context.Context, limit time.Duration, flags []string, text []byte) ([]byte, error) {
	return d.runWithin(ctx, limit, append(append([]string{}, flags...), "-c"), text, nil)
}

// made is compiled code, from the cache or new.
type made struct {
	payload, meta []byte
	evidence      metalshim.Evidence
}

// Kinds of the cache's entries.
const (
	libraryEntry  = "library"
	pipelineEntry = "pipeline"
	runtimeEntry  = "runtime" // what runs kernels
	headerEntry   = "header"  // the standard library's, precompiled
)

// obtain takes an entry from the cache, or makes it and puts it there. Of
// several processes that want the same entry one makes it.
func (d *Device) obtain(ctx context.Context, kind string, key cache.Key, build func() (payload, meta []byte, err error)) (*made, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, why := d.cache, d.why
	if d.keep != nil && kind != runtimeEntry {
		c, why = nil, d.keep.why()
	}
	m := &made{evidence: metalshim.Evidence{State: names.CacheOff, Key: key.String(), Note: why}}
	if c != nil {
		m.evidence = metalshim.Evidence{State: names.CacheMiss, Key: key.String()}
		if d.look(m, kind, key) {
			return m, nil
		}
		unlock, err := c.Lock(ctx, key)
		if err != nil {
			return nil, err
		}
		defer unlock()
		if d.look(m, kind, key) {
			return m, nil
		}
	}
	var err error
	if m.payload, m.meta, err = build(); err != nil {
		return nil, err
	}
	m.evidence.Bytes = int64(len(m.payload))
	switch {
	case c == nil:
	case d.tools.Changed():
		m.note(d, notKept, "the compiler has been replaced since this process began")
	default:
		if err := c.Put(kind, key, m.payload, m.meta); err != nil {
			m.note(d, notKept, err.Error())
		}
	}
	return m, nil
}

// The kinds of notes of the cache.
const (
	notKept = "not kept" // an entry could not be written
	rebuilt = "rebuilt"  // one could not be read
)

func (m *made) note(d *Device, kind, why string) {
	text := kind + ": " + why
	if m.evidence.Note == text {
		return
	}
	m.evidence.Note = text
	d.o.Note("cache: "+kind, "cache: "+text)
}

// look reads an entry; a damaged one is noted and taken for absent.
func (d *Device) look(m *made, kind string, key cache.Key) bool {
	e, err := d.cache.Get(kind, key)
	if err != nil {
		if !errors.Is(err, cache.ErrMiss) {
			m.note(d, rebuilt, err.Error())
		}
		return false
	}
	m.payload, m.meta = e.Payload, e.Meta
	m.evidence.State, m.evidence.Bytes = names.CacheHit, int64(len(e.Payload))
	return true
}

// compileError turns what a run of the compiler gave into metalshim's error.
// A cancelled context stays what it is.
func compileError(ctx context.Context, library, function string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := &metalshim.CompileError{Library: library, Function: function}
	var exit *clang.ExitError
	if !errors.As(err, &exit) {
		e.Err = err
		return e
	}
	e.Log = exit.Stderr
	e.Diagnostics = explained(metalshim.Diagnostics(exit.Stderr))
	return e
}
