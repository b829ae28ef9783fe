package apple

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/objc"
)

// maxSource bounds the text of a library, in bytes.
const maxSource = 16 << 20

// library is an MTLLibrary.
type library struct {
	shared
	d         *Device
	l         mtlLibrary
	name      string
	file      string // for diagnostics
	size      int    // bytes of source, 0 for a metallib
	functions []string
	archive   *archive // where its pipelines are looked for first; nil: nowhere
}

// NewLibrary compiles MSL. The compile itself cannot be cancelled. Its
// FunctionNames are in the system's order, which need not be the source's.
func (d *Device) NewLibrary(ctx context.Context, src metalshim.Source) (metalshim.Library, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := d.usable("library " + src.Name); err != nil {
		return nil, err
	}
	if len(src.Text) > maxSource {
		return nil, fmt.Errorf("metal library %s: %d bytes of source, at most %d are taken", src.Name, len(src.Text), maxSource)
	}
	l := &library{shared: shared{a: d.a}, d: d, name: src.Name, file: src.File, size: len(src.Text)}
	if l.file == "" {
		l.file = src.Name + ".metal"
	}
	defer d.a.Push().Pop()
	options, err := d.compileOptions(src.CompileOptions)
	if err != nil {
		return nil, fmt.Errorf("metal library %s: %w", src.Name, err)
	}
	defer options.release()
	text, err := d.a.NewString(src.Text)
	if err != nil {
		return nil, fmt.Errorf("metal library %s: its source: %w", src.Name, err)
	}
	defer d.a.Release(text)
	l.l, err = aloneOrBeside(d,
		func() (mtlLibrary, error) { return d.d.newLibraryWithSource(text, options) },
		func() (mtlLibrary, error) { return d.d.newLibraryBeside(text, options) })
	if err != nil {
		return nil, compileError(src.Name, "", l.file, err)
	}
	return l.begin()
}

// NewLibraryFromFile loads a metallib, the output of Apple's offline compiler.
// name is its name in traces.
func (d *Device) NewLibraryFromFile(ctx context.Context, name, path string) (metalshim.Library, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := d.usable("library " + name); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("metal library %s: %w", name, err)
	}
	defer d.a.Push().Pop()
	url, err := d.a.FileURL(path)
	if err != nil {
		return nil, fmt.Errorf("metal library %s: %w", name, err)
	}
	l := &library{shared: shared{a: d.a}, d: d, name: name, file: path}
	if l.l, err = d.d.newLibraryWithURL(url); err != nil {
		return nil, fmt.Errorf("metal library %s: load %s: %w", name, path, err)
	}
	return l.begin()
}

// begin names a new library and counts it. It is called within a pool.
func (l *library) begin() (metalshim.Library, error) {
	label, err := l.d.a.NewString(l.name)
	if err != nil {
		l.l.release()
		return nil, fmt.Errorf("metal library %s: its name: %w", l.name, err)
	}
	defer l.d.a.Release(label)
	l.l.setLabel(label)
	l.functions = l.l.functionNames()
	l.Begin(&l.d.live.Libraries, l.l.release) // its pipelines stay
	return l, nil
}

// Name is its name in traces.
func (l *library) Name() string { return l.name }

// SourceBytes is the length of its source, 0 for a metallib.
func (l *library) SourceBytes() int { return l.size }

// FunctionNames lists its functions.
func (l *library) FunctionNames() []string { return slices.Clone(l.functions) }

// Evidence is unknown: Metal does not say whether its cache had the library.
func (l *library) Evidence() metalshim.Evidence {
	if l.archive != nil {
		return metalshim.Evidence{Archive: holdsNoLibrary}
	}
	return metalshim.Evidence{}
}

// function makes one function, +1. It is called within a pool.
func (l *library) function(name string, constants []metalshim.Constant) (object, error) {
	refuse := func(format string, args ...any) error {
		return &metalshim.FunctionError{Library: l.name, Function: name, Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case l.Released():
		return object{}, fmt.Errorf("metal library %s: %w", l.name, metalshim.ErrReleased)
	case !slices.Contains(l.functions, name):
		return object{}, &metalshim.FunctionError{Library: l.name, Function: name, Names: l.FunctionNames()}
	}
	text, err := l.d.a.NewString(name)
	if err != nil {
		return object{}, refuse("%v", err)
	}
	defer l.d.a.Release(text)
	if len(constants) == 0 {
		f := l.l.newFunction(text)
		if f.nothing() {
			return object{}, refuse("the system does not give it")
		}
		return f, nil
	}
	values := l.d.a.newValues()
	defer values.release()
	seen := map[int]bool{}
	for _, c := range constants {
		switch {
		case c.Index < 0 || c.Index > 0xffff:
			return object{}, refuse("function constant %d: its index must be 0 to 65535", c.Index)
		case seen[c.Index]:
			return object{}, refuse("function constant %d is given twice", c.Index)
		case !c.Type.Known():
			return object{}, refuse("function constant %d is of %v, which is none of metalshim's", c.Index, c.Type)
		}
		seen[c.Index] = true
		values.set(c.Bytes(), uint64(c.Type), uint64(c.Index))
	}
	f, err := l.l.newFunctionWithConstants(text, values)
	if err == nil {
		return f, nil
	}
	// A wrong or missing constant is told apart from a compile that failed by
	// whether the compiler wrote about a place in the source.
	var e *objc.Error
	if errors.As(err, &e) && len(diagnostics(e.Text, l.file)) > 0 {
		return object{}, compileError(l.name, name, l.file, err)
	}
	return object{}, refuse("with %v: %v", constants, err)
}
