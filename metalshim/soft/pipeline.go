package soft

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/msl"
	"github.com/introgen/introgen/metalshim/soft/cache"
	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/metalshim/soft/lanes"
	"github.com/introgen/introgen/metalshim/soft/native"
	"github.com/introgen/introgen/metalshim/soft/stdlib"
)

// pipeline is machine code for one kernel with its constants.
type pipeline struct {
	metalshim.Compiled
	metalshim.Held
	params []msl.Param
	facts  facts
	kernel *native.Kernel
}

// facts is what is kept beside the machine code.
type facts struct {
	Limit       int    // max_total_threads_per_threadgroup, 0 if not stated
	Buffers     uint32 // bit n: the code reads the address of buffer n
	Threadgroup uint32 // bit n: the code reads the address of threadgroup memory n
	Family      int    // AppleFamily
	Waits       bool   // a simdgroup may wait for another by an atomic
}

// NewPipeline compiles function for one lane, has the lanes pass make it a
// function of a simdgroup, and compiles that to machine code.
func (l *library) NewPipeline(ctx context.Context, function string, constants []metalshim.Constant) (metalshim.Pipeline, error) {
	i := slices.IndexFunc(l.table.Kernels, func(k msl.Kernel) bool { return k.Name == function })
	if other, ok := l.table.Other(function); i < 0 && ok {
		return nil, &metalshim.FunctionError{Library: l.name, Function: function,
			Reason: fmt.Sprintf("it is a function of stage %s: a compute pipeline is made of a kernel", other.Stage)}
	}
	if i < 0 {
		return nil, &metalshim.FunctionError{Library: l.name, Function: function, Names: l.FunctionNames()}
	}
	k := l.table.Kernels[i]
	values, err := l.values(function, constants)
	if err != nil {
		return nil, err
	}
	p := &pipeline{params: k.Params}
	key := cache.KeyOf(pipelineEntry, l.key.String(), k.Name, values, l.d.o.Form, lanes.Version, lanes.Header, passVersion,
		stub(k, values, l.d.o.Form == "scalar"), strings.Join(slices.Concat(always, lanes.LaneFlags, lanes.Flags, l.d.target()), "\x00"))
	m, err := l.archive.obtain(ctx, l.d, pipelineEntry, key, func() ([]byte, []byte, error) { return l.compile(ctx, k, values, constants) })
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(m.meta, &p.facts); err != nil {
		return nil, fmt.Errorf("metal pipeline %s: its facts: %w", function, err)
	}
	if p.kernel, err = native.LoadKernel(m.payload); err != nil {
		return nil, fmt.Errorf("metal pipeline %s: %w", function, err)
	}
	p.Compiled = metalshim.Compiled{
		Function: function, Of: l.name, With: slices.Clone(constants), Threads: maxThreads,
		Lanes: width, Memory: int(p.kernel.StaticSize), How: m.evidence,
	}
	if p.facts.Limit > 0 {
		p.Threads = min(p.facts.Limit, maxThreads)
	}
	p.Begin(&l.d.live.Pipelines, p.kernel.Unload)
	return p, nil
}

// passVersion changes when the steps below or the facts do.
const passVersion = "8"

// values are the definitions of the library's function constants.
func (l *library) values(function string, constants []metalshim.Constant) (string, error) {
	byIndex := map[int]metalshim.Constant{}
	for _, c := range constants {
		if _, twice := byIndex[c.Index]; twice {
			return "", &metalshim.FunctionError{Library: l.name, Function: function,
				Reason: fmt.Sprintf("function constant %d is given twice", c.Index)}
		}
		byIndex[c.Index] = c
	}
	var lines []string
	for _, fc := range l.table.Constants {
		c, given := byIndex[fc.Index]
		if given && c.Type.String() != fc.Type && otherNames[c.Type].msl != fc.Type {
			return "", &metalshim.FunctionError{Library: l.name, Function: function,
				Reason: fmt.Sprintf("function constant %d, %s, is of type %s, not %s", fc.Index, fc.Name, fc.Type, c.Type)}
		}
		lines = append(lines, fmt.Sprintf("extern const bool msl_fcd_%d = %t;", fc.Index, given))
		if given {
			value := strconv.FormatUint(c.Bits, 10) + "u"
			if c.Type == metalshim.Float {
				value = fmt.Sprintf("__builtin_bit_cast(float, %du)", uint32(c.Bits))
			}
			name := cmp.Or(otherNames[c.Type].c, c.Type.String())
			lines = append(lines, fmt.Sprintf("extern const %s msl_fc_%d = (%[1]s)%[3]s;", name, fc.Index, value))
		}
	}
	sort.Strings(lines)
	return strings.Join(slices.Compact(lines), "\n"), nil
}

// otherNames are MSL's other names for a constant's type, and C's where it has
// another than MSL.
var otherNames = map[metalshim.ConstantType]struct{ msl, c string }{
	metalshim.Int: {msl: "int32_t"}, metalshim.UInt: {"uint32_t", "unsigned int"},
	metalshim.Short: {msl: "int16_t"}, metalshim.UShort: {"uint16_t", "unsigned short"},
	metalshim.Char: {msl: "int8_t"}, metalshim.UChar: {"uint8_t", "unsigned char"},
}

// stub is the text that joins a kernel to its constants. The masked form calls
// the cross-lane operations of the pass's header; the other writes its own.
func stub(k msl.Kernel, values string, scalar bool) string {
	header := ""
	if scalar {
		header = lanes.Header
	}
	limit := ""
	if k.Limited {
		limit = fmt.Sprintf("uint %[1]s_limit();\n__attribute__((visibility(\"default\"))) uint msl_limit() { return %[1]s_limit(); }", k.Symbol)
	}
	return stdlib.Frame() + header + fmt.Sprintf(`
extern "C" {
void %[1]s(const msl_tg*, uint, uint, uint, uint, uint);
__attribute__((visibility("default"))) void msl_entry(const msl_tg* g, uint lane, uint sg, uint x, uint y, uint z) { %[1]s(g, lane, sg, x, y, z); }
%[2]s
%[3]s
}
`, k.Symbol, limit, values)
}

// compile makes a kernel's machine code. Code for all lanes at once may take a
// compiler too long: the kernel then gets the form that runs lane by lane, which is
// smaller and slower.
func (l *library) compile(ctx context.Context, k msl.Kernel, values string, constants []metalshim.Constant) (code, meta []byte, err error) {
	scalar, limit := l.d.o.Form == "scalar", l.d.o.CompileLimit
	if !scalar {
		limit /= 2
	}
	code, meta, err = l.compileForm(ctx, k, values, constants, scalar, limit)
	if scalar || ctx.Err() != nil || !errors.Is(err, clang.ErrLimit) {
		return code, meta, err
	}
	l.d.o.Note("a large kernel", fmt.Sprintf("a large kernel: %s of library %s was not compiled for all lanes at once within %v: it runs lane by lane, more slowly", k.Name, l.name, limit))
	return l.compileForm(ctx, k, values, constants, true, l.d.o.CompileLimit)
}

// compileForm makes one form of it. limit is for what makes machine code.
func (l *library) compileForm(ctx context.Context, k msl.Kernel, values string, constants []metalshim.Constant, scalar bool, limit time.Duration) (code, meta []byte, err error) {
	name := pipelineName(l.name, k.Name, constants)
	kernel, err := l.oneLane(ctx, k, values, name, scalar)
	if err != nil {
		return nil, nil, err
	}
	open, err := l.open(k, kernel)
	if err != nil {
		return nil, nil, err
	}
	if open {
		// The library has constants that this kernel does not look at. They
		// need some value for the initialisers of what depends on them.
		if kernel, err = l.oneLane(ctx, k, values+l.zeros(constants), name, scalar); err != nil {
			return nil, nil, err
		}
	}
	found, err := kernel.Facts()
	if err != nil {
		return nil, nil, &metalshim.CompileError{Library: l.name, Function: k.Name, Err: err}
	}
	wide, err := kernel.Transform(lanes.Options{Scalar: scalar, NoFused: !l.d.fused()})
	if err != nil {
		return nil, nil, &metalshim.CompileError{Library: l.name, Function: k.Name, Err: err}
	}
	if err := l.d.keep.write(name+lanesFile, []byte(wide)); err != nil {
		return nil, nil, err
	}
	flags := slices.Concat(lanes.Flags, lanes.Scheduling(wide), l.d.target())
	if code, err = l.d.objectWithin(ctx, limit, flags, []byte(wide)); err != nil {
		return nil, nil, compileError(ctx, l.name, k.Name, err)
	}
	if err := l.d.keepMachineCode(ctx, name, flags, []byte(wide), code); err != nil {
		return nil, nil, err
	}
	meta, err = json.Marshal(factsOf(found))
	return code, meta, err
}

// Offsets in msl_tg (kernel.h).
const (
	bufferOffset      = 16
	threadgroupOffset = bufferOffset + 8*metalshim.MaxBufferIndex
	endOfPointers     = threadgroupOffset + 8*31
)

// open says whether the code asks for function constants without a value. It is
// an error if the kernel needs one of them, by itself or through a constant that
// is computed from it.
func (l *library) open(k msl.Kernel, kernel *lanes.Kernel) (open bool, err error) {
	undefined, needed := kernel.Undefined()
	for _, symbol := range undefined {
		i := slices.IndexFunc(l.table.Constants, func(c msl.FunctionConstant) bool { return symbol == fmt.Sprintf("msl_fc_%d", c.Index) })
		if i < 0 {
			continue // none of ours
		}
		if c := l.table.Constants[i]; needed[symbol] {
			return true, &metalshim.FunctionError{Library: l.name, Function: k.Name,
				Reason: fmt.Sprintf("function constant %d, %s, has no value", c.Index, c.Name)}
		}
		open = true
	}
	return open, nil
}

// zeros defines those of the library's constants that are not given.
func (l *library) zeros(given []metalshim.Constant) string {
	var b strings.Builder
	for _, c := range l.table.Constants {
		if !slices.ContainsFunc(given, func(g metalshim.Constant) bool { return g.Index == c.Index }) {
			fmt.Fprintf(&b, "\nextern const unsigned long msl_fc_%d = 0;", c.Index)
		}
	}
	return b.String()
}

// factsOf keeps what the driver needs of what the code says.
func factsOf(found lanes.Facts) facts {
	f := facts{Limit: found.ThreadLimit, Family: familyOf(found.CrossLane), Waits: found.Waits}
	for _, offset := range found.Fields {
		switch {
		case offset >= bufferOffset && offset < threadgroupOffset:
			f.Buffers |= 1 << ((offset - bufferOffset) / 8)
		case offset >= threadgroupOffset && offset < endOfPointers:
			f.Threadgroup |= 1 << ((offset - threadgroupOffset) / 8)
		}
	}
	return f
}
