package soft

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/msl"
	"github.com/introgen/introgen/metalshim/soft/cache"
	"github.com/introgen/introgen/metalshim/soft/native"
	"github.com/introgen/introgen/metalshim/soft/stdlib"
)

// library is MSL compiled to bitcode, and its table of kernels.
type library struct {
	metalshim.Held
	d        *Device
	name     string
	file     string
	size     int
	math     metalshim.MathMode
	key      cache.Key
	table    msl.Library // kept beside the bitcode
	bitcode  []byte
	evidence metalshim.Evidence
	archive  *compiledFile // where its pipelines are looked for first; nil: nowhere

	mu   sync.Mutex
	bits *os.File // bitcode as a file, once a compiler needs it
}

// maxSource bounds the text of a library, in bytes.
const maxSource = 16 << 20

// languageVersion turns "3.1" into the 310 of __METAL_VERSION__.
func languageVersion(v string) (string, error) {
	if v == "" {
		return "310", nil
	}
	major, minor, ok := strings.Cut(v, ".")
	if a, b := digitOf(major), digitOf(minor); ok && a >= 1 && b >= 0 {
		return fmt.Sprintf("%d%d0", a, b), nil
	}
	return "", fmt.Errorf("language version %q: want one such as 3.1", v)
}

func digitOf(s string) int {
	if len(s) != 1 || s[0] < '0' || s[0] > '9' {
		return -1
	}
	return int(s[0] - '0')
}

// NewLibrary compiles MSL: preprocess, rewrite to C++, compile to bitcode. The
// language version only sets __METAL_VERSION__, and MathFunctions changes
// nothing: the header's functions meet the limits of both variants.
func (d *Device) NewLibrary(ctx context.Context, src metalshim.Source) (metalshim.Library, error) {
	return d.newLibrary(ctx, src, nil)
}

func (d *Device) newLibrary(ctx context.Context, src metalshim.Source, archive *compiledFile) (metalshim.Library, error) {
	l := &library{d: d, archive: archive, name: src.Name, file: src.File, size: len(src.Text), math: src.MathMode}
	if l.file == "" {
		l.file = src.Name + ".metal"
	}
	switch src.MathMode {
	case metalshim.MathSafe, metalshim.MathRelaxed, metalshim.MathFast:
	default:
		return nil, fmt.Errorf("metal library %s: math mode %d: it must be 0, 1 or 2", src.Name, src.MathMode)
	}
	if len(src.Text) > maxSource {
		return nil, fmt.Errorf("metal library %s: %d bytes of source, at most %d are taken", src.Name, len(src.Text), maxSource)
	}
	version, err := languageVersion(src.LanguageVersion)
	if err != nil {
		return nil, fmt.Errorf("metal library %s: %w", src.Name, err)
	}
	macros := []string{"-D__METAL_VERSION__=" + version}
	for k, v := range src.Macros {
		macros = append(macros, "-D"+k+"="+v)
	}
	sort.Strings(macros)
	flags := slices.Concat(laneTarget(), mathFlags(src.MathMode))
	text := stdlib.Preprocessor(l.file, src.Text)
	// What the compiler sees, and what reads and rewrites in between.
	l.key = cache.KeyOf(libraryEntry, d.id, stdlib.Header(), text, strings.Join(macros, "\x00"), msl.Version(), overlay,
		strings.Join(slices.Concat(always, sealedArgs, preprocess, language, flags, withPrecompiled, toBitcode), "\x00"))
	m, err := archive.obtain(ctx, d, libraryEntry, l.key, func() ([]byte, []byte, error) {
		header := d.beginPrecompile(ctx, flags)
		pre, err := d.runSealed(ctx, slices.Concat(preprocess, macros), []byte(text))
		pch, why := header()
		if why != nil && ctx.Err() == nil {
			d.o.Note("no precompiled header", "no precompiled header: "+why.Error())
		}
		if err != nil {
			return nil, nil, compileError(ctx, l.name, "", err)
		}
		if err := d.keep.write(fileName(l.name)+preprocessedFile, pre); err != nil {
			return nil, nil, err
		}
		cxx, table, err := msl.Rewrite(string(pre))
		if err != nil {
			return nil, nil, l.rewriteError(err)
		}
		if err := d.keep.write(fileName(l.name)+rewrittenFile, []byte(cxx)); err != nil {
			return nil, nil, err
		}
		code, err := d.compileRewritten(ctx, flags, pch, cxx)
		if err != nil {
			return nil, nil, compileError(ctx, l.name, "", err)
		}
		meta, err := json.Marshal(table)
		return code, meta, err
	})
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(m.meta, &l.table); err != nil {
		return nil, fmt.Errorf("metal library %s: its table of kernels: %w", l.name, err)
	}
	l.bitcode, l.evidence = m.payload, m.evidence
	l.Begin(&d.live.Libraries, l.close)
	return l, nil
}

func (l *library) rewriteError(err error) error {
	var e *msl.Error
	if !errors.As(err, &e) {
		return err
	}
	return &metalshim.CompileError{Library: l.name, Diagnostics: []metalshim.Diagnostic{
		{File: e.File, Line: e.Line, Column: 1, Severity: "error", Message: e.Reason}}}
}

// Name is the name the library was given.
func (l *library) Name() string { return l.name }

// SourceBytes is the length of its text.
func (l *library) SourceBytes() int { return l.size }

// Evidence says whether it came from the cache.
func (l *library) Evidence() metalshim.Evidence { return l.evidence }

// FunctionNames lists its kernels.
func (l *library) FunctionNames() []string {
	names := make([]string, len(l.table.Kernels))
	for i, k := range l.table.Kernels {
		names[i] = k.Name
	}
	return names
}

// close frees its file. Pipelines made from it stay.
func (l *library) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bits != nil {
		l.bits.Close()
		l.bits = nil
	}
}

// bitcodeFile is the bitcode as a file.
func (l *library) bitcodeFile() (*os.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Released() {
		return nil, fmt.Errorf("metal library %s: %w", l.name, metalshim.ErrReleased)
	}
	if l.bits == nil {
		f, err := native.Memory(l.bitcode)
		if err != nil {
			return nil, fmt.Errorf("metal library %s: %w", l.name, err)
		}
		l.bits = f
	}
	return l.bits, nil
}
