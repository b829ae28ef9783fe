package soft

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/metalshim/soft/native"
	"github.com/introgen/introgen/metalshim/soft/stdlib"
)

// keeper writes what the driver generates into a folder, for people to read: what
// is compiled is compiled anew then, past the cache, so that the folder holds
// what ran.
type keeper struct {
	dir          string
	disassembler string // "" where there is none
}

// Endings of the files that are kept: of a library, then of a pipeline.
const (
	preprocessedFile = ".preprocessed.metal"
	rewrittenFile    = ".rewritten.cc"
	oneLaneFile      = ".one-lane.ll"
	lanesFile        = ".lanes.ll"
	objectFile       = ".so"
	disassemblyFile  = ".disassembly.s"
	assemblyFile     = ".assembly.s"
)

// Files that are always there: what the others are, and the header that stands
// before every rewritten source.
const (
	contentsFile = "GENERATED.txt"
	headerFile   = "metal_stdlib.h"
)

// newKeeper makes the folder dir, which must be empty if it is there, and says in
// a file what it will hold.
func newKeeper(dir string, tools *clang.Toolchain, form string) (*keeper, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("folder for generated code: %w", err)
	}
	there, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("folder for generated code: %w", err)
	}
	for _, f := range there {
		if name := f.Name(); name != contentsFile && name != headerFile { // those two are left of a run that compiled nothing
			return nil, fmt.Errorf("folder for generated code: %s holds %s already; name a new or an empty one, so that what it holds is of one run", dir, name)
		}
	}
	k := &keeper{dir: dir, disassembler: tools.Disassembler()}
	assembly, made := disassemblyFile, "the same, disassembled by "+k.disassembler
	if k.disassembler == "" {
		assembly, made = assemblyFile, "the same, as clang writes it in assembly ("+noDisassembler+")"
	}
	masked := ""
	if form == "scalar" {
		masked = ", in the masked form"
	}
	err = errors.Join(k.write(headerFile, []byte(stdlib.Header())), k.write(contentsFile, fmt.Appendf(nil, `What introgen's soft Metal driver generated in one run, with clang %s.

LIBRARY%-36s the source as the preprocessor left it
LIBRARY%-36s C++ made of it; %s stands before it
LIBRARY.FUNCTION[.CONSTANTS]%-15s LLVM's text for one lane
LIBRARY.FUNCTION[.CONSTANTS]%-15s LLVM's text for a simdgroup of 32 lanes, made of it%s
LIBRARY.FUNCTION[.CONSTANTS]%-15s the machine code that ran, linked for others to read
LIBRARY.FUNCTION[.CONSTANTS]%-15s %s

A function constant is written INDEX=VALUE, its value as the bits of a number.
`, tools.Version, preprocessedFile, rewrittenFile, headerFile, oneLaneFile, lanesFile, masked, objectFile, assembly, made)))
	return k, err
}

// noDisassembler says what is done without one, and what to do.
const noDisassembler = "no llvm-objdump is beside clang, nor llvm-objdump-" + clang.Major + " on PATH, to disassemble it: `apt-get install llvm-" + clang.Major + "` as root brings one"

// why is what is said of a cache that is left aside.
func (k *keeper) why() string { return "left aside, to generate what is kept in " + k.dir }

// write writes a file. A nil keeper keeps nothing.
func (k *keeper) write(name string, content []byte) error {
	if k == nil {
		return nil
	}
	if err := os.WriteFile(filepath.Join(k.dir, name), content, 0o666); err != nil {
		return fmt.Errorf("folder for generated code: %w", err)
	}
	return nil
}

// longestName bounds the name of a file before its ending, in bytes.
const longestName = 200

// fileName makes a name of what a source calls its kernels, which may be anything.
// One that cannot stand as it is ends in a digest, so that two stay two.
func fileName(name string) string {
	plain := strings.Map(func(r rune) rune {
		if strings.ContainsRune("_-=,", r) || r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '~'
	}, name)
	if plain == name && len(name) <= longestName {
		return name
	}
	return fmt.Sprintf("%.*s~%.4x", longestName, plain, sha256.Sum256([]byte(name)))
}

// pipelineName is how the names of a pipeline's files begin.
func pipelineName(library, function string, constants []metalshim.Constant) string {
	parts := []string{fileName(library), fileName(function)}
	sorted := slices.SortedFunc(slices.Values(constants), func(a, b metalshim.Constant) int { return a.Index - b.Index })
	values := make([]string, len(sorted))
	for i, c := range sorted {
		values[i] = fmt.Sprintf("%d=%d", c.Index, c.Bits)
	}
	if len(values) > 0 {
		parts = append(parts, fileName(strings.Join(values, ",")))
	}
	return strings.Join(parts, ".")
}

// linked is an object file as a shared object: the same code, with its addresses
// filled in and its names for other programs to find.
func (d *Device) linked(ctx context.Context, object []byte) ([]byte, error) {
	f, err := native.Memory(object)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	argv := append(append([]string{}, d.tools.Linker...), "-shared", "-o", "-", clang.FilePath(0))
	out, err := clang.Run(ctx, clang.Command{Argv: argv, Files: []*os.File{f}, Limit: d.o.CompileLimit})
	return out.Stdout, err
}

// keepMachineCode keeps a pipeline's object, linked, and what it says,
// disassembled, or else in the assembly that the compiler makes of the same text.
func (d *Device) keepMachineCode(ctx context.Context, name string, flags []string, text, object []byte) error {
	if d.keep == nil {
		return nil
	}
	object, err := d.linked(ctx, object)
	if err != nil {
		return fmt.Errorf("linking %s: %w", name, err)
	}
	if err := d.keep.write(name+objectFile, object); err != nil {
		return err
	}
	if d.keep.disassembler == "" {
		assembly, err := d.run(ctx, slices.Concat(flags, []string{"-S"}), text)
		if err != nil {
			return fmt.Errorf("assembly of %s: %w", name, err)
		}
		return d.keep.write(name+assemblyFile, assembly)
	}
	f, err := native.Memory(object)
	if err != nil {
		return err
	}
	defer f.Close()
	argv := []string{d.keep.disassembler, "-d", "--no-show-raw-insn", clang.FilePath(0)}
	out, err := clang.Run(ctx, clang.Command{Argv: argv, Files: []*os.File{f}, Limit: d.o.CompileLimit})
	if err != nil {
		return fmt.Errorf("disassembly of %s by %s: %w", name, d.keep.disassembler, err)
	}
	return d.keep.write(name+disassemblyFile, out.Stdout)
}
