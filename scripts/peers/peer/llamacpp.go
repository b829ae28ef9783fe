package peer

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/introgen/introgen/system/tools"
)

// llamaVersion is that of the Python package, which carries llama.cpp's source.
const llamaVersion = "0.3.36"

// llamaFlags build llama.cpp for this processor alone. Its own threads are used
// in place of OpenMP's, which clang often lacks; the two were equally fast.
const llamaFlags = "-DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON -DGGML_CPU_REPACK=ON -DGGML_OPENMP=OFF -DLLAVA_BUILD=OFF"

// Llama is a build of llama.cpp, which llama_peer.py drives.
type Llama struct {
	Built               string // version, compiler and flags, for the reader
	python, script, dir string
}

// Command is a process of it: llama_peer.py with these flags, and what is added to
// its environment.
func (l *Llama) Command(flags ...string) (argv, env []string) {
	return append([]string{l.python, l.script}, flags...), []string{"PYTHONPATH=" + l.dir}
}

// Llama builds llama.cpp from the Python package's source.
func (s *Setup) Llama(ctx context.Context) (*Llama, error) {
	pip, err := tools.Find(ctx, "pip")
	if err != nil {
		return nil, err
	}
	python := pip.Argv[0]
	if len(pip.Argv) != 3 { // not `python3 -m pip`
		return nil, fmt.Errorf("python3 with pip is %w: %s", tools.ErrMissing, tools.Bring("pip"))
	}
	cc, err := s.compiler(ctx)
	if err != nil {
		return nil, err
	}
	dir := s.folder("llama.cpp-"+llamaVersion, llamaFlags, cc.version, cc.flags, s.Machine.native, pip.Version)
	script := filepath.Join(dir, "llama_peer.py")
	err = s.once(dir, "llama.cpp of llama-cpp-python "+llamaVersion+": some minutes, 77 MB of source", func(log io.Writer) error {
		env := []string{"CC=" + cc.c, "CXX=" + cc.cxx, "CMAKE_ARGS=" + llamaFlags,
			"CFLAGS=" + cc.flags, "CXXFLAGS=" + cc.flags,
			"CMAKE_BUILD_PARALLEL_LEVEL=" + strconv.Itoa(runtime.NumCPU())}
		return build(ctx, log, dir, env, append(pip.Argv, "install", "--disable-pip-version-check", "--no-cache-dir", "-v",
			"--target", dir, "--no-binary", "llama-cpp-python", "llama-cpp-python=="+llamaVersion))
	})
	if err == nil {
		err = unpack("llama_peer.py", script) // always: no build depends on it
	}
	if err != nil {
		return nil, err
	}
	built := strings.TrimSpace(fmt.Sprintf("llama-cpp-python %s, %s, %s %s", llamaVersion, cc.version, llamaFlags, cc.flags))
	return &Llama{built, python, script, dir}, nil
}

// cCompiler is a C and C++ compiler.
type cCompiler struct{ c, cxx, version, flags string }

// compiler prefers clang: llama.cpp's AMX kernels crash when gcc 12 compiled
// them. gcc before 13 is told to leave AMX out on processors that have it.
func (s *Setup) compiler(ctx context.Context) (cCompiler, error) {
	names := []string{"clang"}
	for v := 25; v >= 15; v-- {
		names = append(names, "clang-"+strconv.Itoa(v))
	}
	for _, c := range names {
		cxx := strings.Replace(c, "clang", "clang++", 1)
		if _, err := exec.LookPath(cxx); err != nil {
			continue
		}
		if version, err := tools.Ask(ctx, []string{c, "--version"}); err == nil && version != "" {
			return cCompiler{c: c, cxx: cxx, version: version}, nil
		}
	}
	version, err := tools.Ask(ctx, []string{"gcc", "--version"})
	if _, absent := exec.LookPath("g++"); absent != nil || err != nil || version == "" {
		return cCompiler{}, fmt.Errorf("clang is %w: %s", tools.ErrMissing, tools.Bring("clang"))
	}
	cc := cCompiler{c: "gcc", cxx: "g++", version: version}
	if s.Machine.has("amx_tile") && gccMajor(version) < 13 {
		cc.flags = "-mno-amx-tile -mno-amx-int8 -mno-amx-bf16"
		fmt.Fprintf(s.Log, "note: llama.cpp is built without AMX, which %s miscompiles; with clang it is built with it: %s\n",
			version, tools.Bring("clang"))
	}
	return cc, nil
}

var versionNumber = regexp.MustCompile(`(\d+)\.\d+`)

// gccMajor is the major version in the first line of `gcc --version`, 0 if none.
func gccMajor(line string) int {
	m := versionNumber.FindAllStringSubmatch(line, -1)
	if len(m) == 0 {
		return 0
	}
	// The distribution's own version may stand before it in parentheses.
	n, _ := strconv.Atoi(m[len(m)-1][1])
	return n
}
