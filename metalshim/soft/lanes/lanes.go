// Package lanes turns a Metal kernel that clang compiled for one lane into a
// function that runs a simdgroup of 32 lanes. It reads and writes LLVM 19
// textual IR.
//
// In the input the kernel is @msl_entry(g, lane, sg, x, y, z), everything
// inlined, with cross-lane operations as calls of @msl_sy_*. The output has
//
//	i32 @msl_sgk(ptr g, i32 sg, i32 nlanes, ptr frame, i32 pc)
//
// which runs simdgroup sg, nlanes of whose lanes exist, from resume point pc (0
// at first). It returns 65535 when done, 65534 when stopped by the watchdog's
// flag, else the resume point of a threadgroup barrier, and the constants
// @msl_frame_size (bytes), @msl_tgs_size (bytes of static threadgroup memory)
// and @msl_nbar (barriers in the code).
//
// The work is done in three layers, each of which imports only those before it:
// ir reads the text, analysis finds out what differs between lanes, emit writes.
package lanes

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/introgen/introgen/metalshim/soft/lanes/analysis"
	"github.com/introgen/introgen/metalshim/soft/lanes/emit"
	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// Header is C++ that says what each cross-lane operation does to a simdgroup.
// It belongs into the translation unit of the one-lane kernel; functions of it
// that the result does not need are dropped.
//
//go:embed sg.h
var Header string

// Version changes whenever the same input may give another output; a cache of
// compiled kernels has it in its key.
const Version = "7"

// Options choose the form of the result.
type Options struct {
	// Scalar asks for the masked form: each lane by itself up to the next
	// cross-lane operation. It is slow and simple, the oracle of the other.
	Scalar bool
	// NoFused says that the processor has no multiply-add that rounds once. One
	// is written out then, with the same results.
	NoFused bool
}

// LaneFlags are clang's arguments for compiling the one-lane kernel, beside
// those that choose language, target, mathematics, input and output. The
// vectorisers must go off after -O2, which turns them on. Short loops are
// unrolled in full: what a lane keeps in an array between them then lies in
// registers, and its loads from neighbouring places become one. Nothing is concluded
// about a number from its use as a divisor: a division by zero has a quotient here.
var LaneFlags = []string{"-O2", "-fno-vectorize", "-fno-slp-vectorize", "-fno-finite-loops", "-g0",
	"-mllvm", "-unroll-full-max-count=32", "-mllvm", "-unroll-threshold=500", "-mllvm", "-unroll-runtime=false",
	"-mllvm", "-unroll-allow-partial=false", "-mllvm", "-inline-threshold=100000",
	"-mllvm", "-dom-conditions-max-uses=0"}

// Flags are clang's arguments for the result of Transform, beside Scheduling and
// those that choose the target, input and output. The one-lane kernel has been
// optimised already: what -O2 does more than -O1 takes a third of the time, and
// makes no kernel faster.
var Flags = []string{"-x", "ir", "-O1", "-fPIC", "-Wno-override-module",
	"-fno-vectorize", "-fno-slp-vectorize", "-fveclib=none", "-fno-math-errno"}

// Scheduling are more such arguments: clang puts instructions in another order
// once registers are given, as -O2 has it do. It halves the time of kernels that
// take weights apart. In a long text its time grows with the square of a block,
// to as much as the rest takes, and kernels of that size run as fast without it.
func Scheduling(text string) []string {
	if len(text) > scheduled {
		return nil
	}
	return []string{"-mllvm", "-post-RA-scheduler"}
}

// scheduled is up to how many bytes of text instructions are put in another order.
const scheduled = 512 << 10

// Kernel is a one-lane kernel that has been read.
type Kernel struct {
	module *ir.Module
	entry  *ir.Function // nil until it is needed, and once a form has been made of it
}

// Read reads the text of a kernel's module.
func Read(text string) (*Kernel, error) {
	m, err := ir.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("lanes: %w", err)
	}
	return &Kernel{module: m}, nil
}

// Undefined lists the variables that the module leaves to others to define.
// needed holds those that the kernel's results hang on.
func (k *Kernel) Undefined() (all []string, needed map[string]bool) { return k.module.Undefined() }

// Tangled lists the functions that clang has left as calls though they wait for other
// lanes, ask for their lane or hold threadgroup memory: Transform refuses them.
func (k *Kernel) Tangled() []string { return k.module.Tangled() }

// Inlined is the text of a module that is not optimised yet, changed so that clang
// makes the functions named part of those that call them.
func Inlined(text string, names []string) (string, error) {
	m, err := ir.Parse(text)
	if err != nil {
		return "", fmt.Errorf("lanes: %w", err)
	}
	return m.Inlined(names), nil
}

// Facts are what the code says about a kernel.
type Facts struct {
	ThreadLimit int      // what @msl_limit returns; 0 where there is none
	Fields      []int64  // offsets in *g of what the kernel takes the address of
	CrossLane   []string // operations across lanes that it calls, without prefix
	Waits       bool     // it may go round until another simdgroup has changed memory
}

// Facts reads what the code says about the kernel.
func (k *Kernel) Facts() (facts Facts, err error) {
	defer guard(&err)
	f, err := k.function()
	if err != nil {
		return facts, err
	}
	facts.ThreadLimit, _ = k.module.Returns("msl_limit")
	for _, in := range f.All() {
		if offset, ok := f.Field(in); ok {
			facts.Fields = append(facts.Fields, offset)
		}
		if op := ir.CrossLane(in); op != "" && !slices.Contains(facts.CrossLane, op) {
			facts.CrossLane = append(facts.CrossLane, op)
		}
	}
	facts.Waits, err = analysis.Waits(f)
	return facts, err
}

func (k *Kernel) function() (*ir.Function, error) {
	if k.entry == nil {
		var err error
		if k.entry, err = ir.ParseKernel(k.module); err != nil {
			return nil, err
		}
	}
	return k.entry, nil
}

// guard turns a mistake in this package, which shall cost a kernel and not the
// process, into an error, and says whose errors they are.
func guard(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("internal error: %v", r)
	}
	if *err != nil {
		*err = fmt.Errorf("lanes: %w", *err)
	}
}

// Transform makes the simdgroup function of the kernel. An error names the
// block and the instruction that the pass cannot take.
func (k *Kernel) Transform(o Options) (out string, err error) {
	defer guard(&err)
	return k.transform(o)
}

func (k *Kernel) transform(o Options) (string, error) {
	f, err := k.function()
	if err != nil {
		return "", err
	}
	k.entry = nil // what follows changes it
	// What settle does for the kernel, for the functions that it calls: plain code
	// of sg.h, which leaves no product to be joined.
	k.module.DropChoices(fastFlags, chooses)
	if err := settle(f); err != nil {
		return "", fmt.Errorf("@%s: %w", ir.EntryName, err)
	}
	if err := divide(f); err != nil {
		return "", fmt.Errorf("@%s: %w", ir.EntryName, err)
	}
	form := emit.Vector
	if o.Scalar {
		form = emit.Scalar
	}
	made, err := form(f)
	if err != nil {
		return "", fmt.Errorf("@%s: %w", ir.EntryName, err)
	}
	out := k.module.ReplaceEntry(made)
	if o.NoFused {
		out = emit.WithoutFused(out)
	}
	return out, nil
}
