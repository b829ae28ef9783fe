package soft

import (
	"context"
	"slices"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/msl"
	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/metalshim/soft/lanes"
)

// oneLane compiles a kernel for one lane. name is what files that are kept begin with.
func (l *library) oneLane(ctx context.Context, k msl.Kernel, values, name string, scalar bool) (*lanes.Kernel, error) {
	bitcode, err := l.bitcodeFile()
	if err != nil {
		return nil, err
	}
	read := func(args []string) (*lanes.Kernel, string, error) {
		text, err := l.d.run(ctx, args, []byte(stub(k, values, scalar)), bitcode)
		if err != nil {
			return nil, "", compileError(ctx, l.name, k.Name, err)
		}
		return l.read(k, text)
	}
	source := slices.Concat(language, laneTarget(), mathFlags(l.math), lanes.LaneFlags,
		[]string{"-S", "-emit-llvm", "-Xclang", "-mlink-builtin-bitcode", "-Xclang", clang.FilePath(0)})
	kernel, text, err := read(source)
	if err != nil {
		return nil, err
	}
	if tangled := kernel.Tangled(); len(tangled) > 0 {
		if _, text, err = read(append(source, "-Xclang", "-disable-llvm-passes")); err != nil {
			return nil, err
		}
		if text, err = lanes.Inlined(text, tangled); err != nil {
			return nil, err
		}
		optimise := slices.Concat([]string{"-x", "ir", "-Wno-override-module", "-fPIC"}, laneTarget(), lanes.LaneFlags, []string{"-S", "-emit-llvm"})
		again, err := l.d.run(ctx, optimise, []byte(text))
		if err != nil {
			return nil, compileError(ctx, l.name, k.Name, err)
		}
		if kernel, text, err = l.read(k, again); err != nil {
			return nil, err
		}
	}
	if err := l.d.keep.write(name+oneLaneFile, []byte(text)); err != nil {
		return nil, err
	}
	return kernel, nil
}

// read reads what clang wrote of a kernel.
func (l *library) read(k msl.Kernel, text []byte) (*lanes.Kernel, string, error) {
	kernel, err := lanes.Read(string(text))
	if err != nil {
		return nil, "", &metalshim.CompileError{Library: l.name, Function: k.Name, Err: err}
	}
	return kernel, string(text), nil
}
