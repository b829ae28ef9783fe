package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/cpu"

	enginecpu "github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/cpu/kernel"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/tokenizer"
	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/metalshim/apple"
	"github.com/introgen/introgen/metalshim/drivers"
	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/metalshim/soft/clang/resident"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/system/files"
	"github.com/introgen/introgen/system/machine"
	"github.com/introgen/introgen/system/tools"
)

// checks is all of them: first this program, then the machine, then its files,
// then the tools of others.
var checks = []check{
	{"build", checkBuild},
	{"cgo", checkCgo},
	{"tokenizers", checkTokenizers},
	{"simd", checkSIMD},
	{"threads", checkThreads},
	{"huge-pages", checkHugePages},
	{"cache", checkCache},
	{"models", checkModels},
	{"page-cache", checkPageCache},
	{"go", checkTool("go", "builds introgen")},
	{"pip", checkTool("pip", "fetches the stand-in model")},
	{"cargo", checkTool("cargo", "builds the tokenizers library and the peer candle, and gets candle's Metal kernels")},
	{"cc", checkTool("cc", "links the tokenizers library")},
	{"clang", checkClang},
	{"gpus", checkGPUs},
	{"qemu-aarch64", checkTool("qemu-aarch64", "runs the arm64 kernels' tests elsewhere than on arm64")},
}

// checkTool looks for a program of others.
func checkTool(name, use string) func(context.Context) (state, detail string) {
	return func(ctx context.Context) (state, detail string) {
		t, err := tools.Find(ctx, name)
		if err != nil {
			return stateMissing, fmt.Sprintf("%v (%s)", err, use)
		}
		return stateOK, fmt.Sprintf("%s (%s)", t.Version, use)
	}
}

// checkClang looks for the one version of clang that the software Metal driver
// takes.
func checkClang(ctx context.Context) (state, detail string) {
	t, err := clang.Find(ctx)
	if err == nil {
		err = t.Identify(ctx)
	}
	if err != nil {
		return stateMissing, err.Error()
	}
	return stateOK, fmt.Sprintf("clang %s at %s (compiles Metal kernels without a Mac); %s", t.Version, t.Path, checkResident(ctx, t))
}

// checkResident says how the compiler is started.
func checkResident(ctx context.Context, t *clang.Toolchain) string {
	c := resident.New(t, func(ctx context.Context) ([]byte, error) { return resident.Compile(ctx, t) })
	defer c.Close()
	if err := c.Try(ctx); err != nil {
		return fmt.Sprintf("it is started for each step of a compile, which takes longer: %v", err)
	}
	return "it stays resident while a device is open"
}

// checkGPUs lists what --driver apple: takes.
func checkGPUs(ctx context.Context) (state, detail string) {
	if runtime.GOOS != "darwin" && os.Getenv(apple.EnvStandIn) == "" {
		return stateNone, runtime.GOOS + " has no Metal: --driver soft, the default here, runs the kernels on the processor"
	}
	list, err := drivers.Devices(ctx)
	switch {
	case err != nil:
		return stateNone, err.Error()
	case len(list) == 0:
		return stateNone, "this system has Metal and no device for it: a virtual machine may have none"
	}
	return stateOK, strings.Join(list, "; ") + " (--driver apple:NAME or apple:NUMBER takes another than the default one)"
}

func checkBuild(context.Context) (state, detail string) {
	return stateOK, fmt.Sprintf("%s for %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func checkCgo(context.Context) (state, detail string) {
	if built().cgo {
		return stateOK, "built in"
	}
	return stateNone, "not built in; everything but the tokenizers library works without"
}

func checkTokenizers(context.Context) (state, detail string) {
	if tokenizer.HFBuiltIn() {
		return stateOK, "the tokenizers library is built in, for --tokenizer hf; the pure-Go one serves by itself"
	}
	return stateMissing, "the pure-Go one serves; get the tokenizers library, for --tokenizer hf, with `make setup`, which builds it where cargo is"
}

// checkSIMD says which instruction set the CPU engine takes, and which it could.
func checkSIMD(context.Context) (state, detail string) {
	set, err := kernel.Pick(os.Getenv(enginecpu.SetEnv))
	if err != nil {
		return stateMissing, fmt.Sprintf("%s: %v; unset it", enginecpu.SetEnv, err)
	}
	return stateOK, fmt.Sprintf("%s, of %s (%s)", set.Name, strings.Join(kernel.Names(), ", "), features())
}

// features names the processor's features that the kernels ask for.
func features() string {
	var out []string
	for _, f := range []struct {
		has  bool
		name string
	}{
		{cpu.X86.HasAVX2, "AVX2"}, {cpu.X86.HasFMA, "FMA"},
		{cpu.X86.HasAVX512F, "AVX512F"}, {cpu.X86.HasAVX512BW, "AVX512BW"},
		{cpu.X86.HasAVX512VL, "AVX512VL"}, {cpu.X86.HasAVX512VNNI, "AVX512VNNI"},
		{cpu.X86.HasAMXTile, "AMX"},
		{cpu.ARM64.HasASIMD, "NEON"}, {cpu.ARM64.HasASIMDDP, "DOTPROD"}, {cpu.ARM64.HasSVE, "SVE"},
	} {
		if f.has {
			out = append(out, f.name)
		}
	}
	if len(out) == 0 {
		return "no vector features found"
	}
	return "the processor has " + strings.Join(out, " ")
}

func checkThreads(context.Context) (state, detail string) {
	return stateOK, fmt.Sprintf("%d by default, a physical core each, of %d processors", enginecpu.DefaultThreads(), runtime.NumCPU())
}

func checkHugePages(context.Context) (state, detail string) { return hugePagesOf(machine.HugePages()) }

func hugePagesOf(mode string, ok bool) (state, detail string) {
	switch {
	case !ok:
		return stateNone, "this system has no transparent huge pages to ask for"
	case mode == "always", mode == "madvise":
		return stateOK, "transparent huge pages: " + mode
	}
	return stateMissing, "transparent huge pages are off, which slows packed weights: get them with `echo madvise | sudo tee " + machine.HugePagesFile + "`"
}

func checkCache(context.Context) (state, detail string) {
	dir, err := files.Cache()
	if err != nil {
		return stateMissing, err.Error()
	}
	size, err := files.Size(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return stateMissing, dir + ": get it with `make setup`"
	case err != nil:
		return stateMissing, fmt.Sprintf("cannot be read: %v", err)
	}
	return stateOK, fmt.Sprintf("%s, %s", dir, figures.Size(size))
}

func checkModels(context.Context) (state, detail string) {
	dir, err := models.Dir()
	if err != nil {
		return stateMissing, err.Error()
	}
	entries, err := models.List(dir)
	if err != nil {
		return stateMissing, err.Error()
	}
	var there []string
	for _, e := range entries {
		switch e.State {
		case models.Present:
			there = append(there, e.Name)
		case models.WrongSize:
			return stateMissing, fmt.Sprintf("%s has %d bytes, %s: remove it and run `make setup`", e.Path, e.Size, e.Detail)
		}
	}
	if len(there) == 0 {
		return stateMissing, fmt.Sprintf("none in %s: get them with `make setup`", dir)
	}
	return stateOK, strings.Join(there, ", ")
}

// checkPageCache says how much of the default model is in memory, which decides
// whether a run begins cold or warm.
func checkPageCache(context.Context) (state, detail string) {
	path, err := models.Find("")
	if err != nil {
		return stateNone, "no model to look at"
	}
	share, err := gguf.Resident(path)
	if err != nil {
		return stateNone, err.Error()
	}
	return stateOK, fmt.Sprintf("%s of %s is in memory", figures.Percent(share), filepath.Base(path))
}
