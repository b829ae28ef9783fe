package resident

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/introgen/introgen/metalshim/soft/clang"
)

// Flags are clang's arguments for Source, beside input and output.
var Flags = []string{"--no-default-config", "-fno-crash-diagnostics", "-x", "c", "-std=c11", "-O2", "-fPIC", "-nostdinc",
	"-ffreestanding", "-fvisibility=hidden", "-fno-stack-protector"}

// compileLimit is how long the preload's compiler may take; it needs 50 ms.
const compileLimit = time.Minute

// Compile makes the preload: a shared object. It starts a compiler and a linker.
func Compile(ctx context.Context, tools *clang.Toolchain) ([]byte, error) {
	object, err := clang.Run(ctx, clang.Command{Argv: slices.Concat(tools.Compiler, Flags, []string{"-c", "-o", "-", "-"}),
		Stdin: []byte(Source()), Limit: compileLimit})
	if err != nil {
		return nil, fmt.Errorf("the preload of resident compilers: %w", err)
	}
	f, err := memory(object.Stdout)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	linked, err := clang.Run(ctx, clang.Command{Argv: slices.Concat(tools.Linker, []string{"-shared", "-o", "-", clang.FilePath(0)}),
		Files: []*os.File{f}, Limit: compileLimit})
	if err != nil {
		return nil, fmt.Errorf("the preload of resident compilers: linking it: %w", err)
	}
	return linked.Stdout, nil
}
