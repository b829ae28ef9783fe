package soft

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/introgen/introgen/metalshim/soft/cache"
	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/metalshim/soft/native"
	"github.com/introgen/introgen/metalshim/soft/stdlib"
)

// precompiledFile is where the compiler of a rewritten source finds the standard
// library's header, precompiled. There is no such file outside of the overlay.
const precompiledFile = "/precompiled/header.pch"

// precompiledOverlay is overlay with the precompiled header, clang.FilePath(2).
var precompiledOverlay = overlayWith(folder("/precompiled", clang.FilePath(2), "header.pch"))

// withPrecompiled are clang's arguments that read it.
var withPrecompiled = []string{"-include-pch", precompiledFile}

// toPrecompiled are the arguments, beside headerLanguage, that make it.
var toPrecompiled = []string{"-O2", "-Xclang", "-disable-llvm-passes", "-fno-gnu-inline-asm", "-Xclang", "-emit-pch"}

// headerLanguage is language for what makes it.
var headerLanguage = func() []string {
	args := slices.Clone(language)
	args[slices.Index(args, "c++")] = "c++-header"
	return args
}()

// precompiled are the standard library's headers as the compiler has them after
// reading: reading them takes longer than compiling most sources. There is one
// for each list of arguments, kept in the cache, since the compiler takes it for
// the same arguments alone.
type precompiled struct {
	mu     sync.Mutex
	by     map[string]*precompiledHeader
	closed bool
}

type precompiledHeader struct {
	turn chan struct{} // holds one while it is being made
	file *os.File
	why  error // why the compiler does not make it; asked once more it would say the same
}

// close frees them.
func (p *precompiled) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, h := range p.by {
		h.turn <- struct{}{} // whoever makes it has ended, and nobody begins
		if h.file != nil {
			h.file.Close()
		}
	}
}

// of is the header for some arguments.
func (p *precompiled) of(args []string) (*precompiledHeader, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.New("the device has been closed")
	}
	key := strings.Join(args, "\x00")
	h := p.by[key]
	if h == nil {
		h = &precompiledHeader{turn: make(chan struct{}, 1)}
		if p.by == nil {
			p.by = map[string]*precompiledHeader{}
		}
		p.by[key] = h
	}
	return h, nil
}

// precompile takes the header for language flags from the cache, or makes it.
func (d *Device) precompile(ctx context.Context, flags []string) (*os.File, error) {
	h, err := d.headers.of(flags)
	if err != nil {
		return nil, err
	}
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if h.file != nil || h.why != nil {
		return h.file, h.why
	}
	args := slices.Concat(headerLanguage, flags, toPrecompiled)
	key := cache.KeyOf(headerEntry, d.id, stdlib.Header(), strings.Join(slices.Concat(always, sealedArgs, args), "\x00"))
	payload, err := d.headerEntry(ctx, key, args)
	if err != nil {
		var refused *clang.ExitError
		if ctx.Err() == nil && (errors.As(err, &refused) || errors.Is(err, clang.ErrLimit) || errors.Is(err, clang.ErrKilled)) {
			h.why = err
		}
		return nil, err
	}
	h.file, err = native.Memory(payload)
	return h.file, err
}

// headerEntry is the precompiled header's bytes. Unlike obtain it takes no lock:
// whoever makes a library holds that of the library, which may be the same one.
// That an entry cannot be written, the library says.
func (d *Device) headerEntry(ctx context.Context, key cache.Key, args []string) ([]byte, error) {
	c := d.cache
	if d.keep != nil {
		c = nil
	}
	if c != nil {
		e, err := c.Get(headerEntry, key)
		if err == nil {
			return e.Payload, nil
		}
		if !errors.Is(err, cache.ErrMiss) {
			d.o.Note("cache: "+rebuilt, "cache: "+rebuilt+": "+err.Error())
		}
	}
	pch, err := d.runSealed(ctx, args, []byte(stdlib.Header()))
	if err == nil && c != nil && !d.tools.Changed() {
		_ = c.Put(headerEntry, key, pch, nil)
	}
	return pch, err
}

// beginPrecompile makes the header beside what the caller does until it calls the result.
func (d *Device) beginPrecompile(ctx context.Context, flags []string) (wait func() (*os.File, error)) {
	var pch *os.File
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		pch, err = d.precompile(ctx, flags)
	}()
	return func() (*os.File, error) {
		<-done
		return pch, err
	}
}

// compileRewritten compiles C++ that the rewriter made to bitcode, which is the
// same with and without the precompiled header. flags are those beside language.
func (d *Device) compileRewritten(ctx context.Context, flags []string, pch *os.File, text string) ([]byte, error) {
	if pch != nil {
		code, err := d.runPrecompiled(ctx, slices.Concat(language, flags, withPrecompiled, toBitcode), []byte(text), pch)
		var refused *clang.ExitError
		if !errors.As(err, &refused) {
			return code, err
		}
		// What is wrong with a source is told as of one text.
	}
	return d.runSealed(ctx, slices.Concat(language, flags, toBitcode), []byte(stdlib.Header()+text))
}

// runPrecompiled is runSealed with a precompiled header.
func (d *Device) runPrecompiled(ctx context.Context, args []string, text []byte, pch *os.File) ([]byte, error) {
	return d.runOverlaid(ctx, precompiledOverlay, args, text, pch)
}
