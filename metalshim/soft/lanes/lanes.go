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
package lanes

import (
	_ "embed"
	"fmt"
)

// Header is C++ that says what each cross-lane operation does to a simdgroup.
// It belongs into the translation unit of the one-lane kernel; functions of it
// that the result does not need are dropped.
//
//go:embed sg.h
var Header string

// Version changes whenever the same input may give another output; a cache of
// compiled kernels has it in its key.
const Version = "4"

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
// registers, and its loads from neighbouring places become one.
var LaneFlags = []string{"-O2", "-fno-vectorize", "-fno-slp-vectorize", "-fno-finite-loops", "-g0",
	"-mllvm", "-unroll-full-max-count=32", "-mllvm", "-unroll-threshold=500", "-mllvm", "-unroll-runtime=false",
	"-mllvm", "-unroll-allow-partial=false", "-mllvm", "-inline-threshold=100000"}

// Flags are clang's arguments for the result of Transform, beside those that
// choose the target, input and output.
var Flags = []string{"-x", "ir", "-O2", "-fPIC", "-shared", "-fuse-ld=lld", "-Wno-override-module",
	"-fno-vectorize", "-fno-slp-vectorize", "-fveclib=none", "-fno-math-errno"}

// Codes that the kernel returns in place of a resume point.
const (
	codeDone    = 65535
	codeStopped = 65534
)

// Transform makes the simdgroup function of the one-lane kernel in ir. An
// error names the block and the instruction that the pass cannot take.
func Transform(ir string, o Options) (out string, err error) {
	defer func() { // a mistake in this package shall cost a kernel, not the process
		if r := recover(); r != nil {
			out, err = "", fmt.Errorf("lanes: internal error: %v", r)
		}
	}()
	out, err = transform(ir, o)
	if err != nil {
		return "", fmt.Errorf("lanes: %w", err)
	}
	return out, nil
}

func transform(ir string, o Options) (string, error) {
	m, err := parseModule(ir)
	if err != nil {
		return "", err
	}
	settleRest(m)
	f, err := parseFunction(m)
	if err != nil {
		return "", err
	}
	if err := settle(f); err != nil {
		return "", fmt.Errorf("@%s: %w", entryName, err)
	}
	form := vectorForm
	if o.Scalar {
		form = scalarForm
	}
	made, err := form(f)
	if err != nil {
		return "", fmt.Errorf("@%s: %w", entryName, err)
	}
	text := m.replaceEntry(made)
	if o.NoFused {
		text = withoutFused(text)
	}
	return text, nil
}
