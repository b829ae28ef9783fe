package doctor

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
	"github.com/introgen/introgen/engine/gguf/pagecache"
	"github.com/introgen/introgen/engine/tokenizer"
	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/system/files"
	"github.com/introgen/introgen/system/machine"
	"github.com/introgen/introgen/system/tools"
)

// checks is all of them: first this program, then the machine, then its files,
// then the tools of others.
var checks = []check{
	{"build", build},
	{"cgo", cgo},
	{"tokenizers", tokenizers},
	{"simd", simd},
	{"threads", threads},
	{"huge-pages", hugePages},
	{"cache", cache},
	{"models", modelFiles},
	{"page-cache", pageCache},
	{"go", tool("go", "builds introgen")},
	{"pip", tool("pip", "fetches the stand-in model")},
	{"cargo", tool("cargo", "builds the tokenizers library and the peer candle, and gets candle's Metal kernels")},
	{"cc", tool("cc", "links the tokenizers library")},
	{"clang", compiler},
	{"qemu-aarch64", tool("qemu-aarch64", "runs the arm64 kernels' tests elsewhere than on arm64")},
}

// tool looks for a program of others.
func tool(name, use string) func(context.Context) (State, string) {
	return func(ctx context.Context) (State, string) {
		t, err := tools.Find(ctx, name)
		if err != nil {
			return Missing, fmt.Sprintf("%v (%s)", err, use)
		}
		return OK, fmt.Sprintf("%s (%s)", t.Version, use)
	}
}

// compiler looks for the one version of clang that the software Metal driver
// takes.
func compiler(ctx context.Context) (State, string) {
	t, err := clang.Find(ctx)
	if err == nil {
		err = t.Identify(ctx)
	}
	if err != nil {
		return Missing, err.Error()
	}
	return OK, fmt.Sprintf("clang %s at %s (compiles Metal kernels without a Mac)", t.Version, t.Path)
}

func build(context.Context) (State, string) {
	return OK, fmt.Sprintf("%s for %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func cgo(context.Context) (State, string) {
	if cgoBuiltIn {
		return OK, "built in"
	}
	return None, "not built in; everything but the tokenizers library works without"
}

func tokenizers(context.Context) (State, string) {
	if tokenizer.HFBuiltIn() {
		return OK, "the tokenizers library is built in, the pure-Go one too"
	}
	return Missing, "the pure-Go one serves; get the tokenizers library with `make setup`, which builds it where cargo is"
}

// simd says which instruction set the CPU engine takes, and which it could.
func simd(context.Context) (State, string) {
	set, err := kernel.Pick(os.Getenv(enginecpu.SetEnv))
	if err != nil {
		return Missing, fmt.Sprintf("%s: %v; unset it", enginecpu.SetEnv, err)
	}
	detail := fmt.Sprintf("%s, of %s (%s)", set.Name, strings.Join(kernel.Names(), ", "), features())
	return OK, detail
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

func threads(context.Context) (State, string) {
	return OK, fmt.Sprintf("%d by default, a physical core each, of %d processors", enginecpu.DefaultThreads(), runtime.NumCPU())
}

func hugePages(context.Context) (State, string) { return hugePagesOf(machine.HugePages()) }

func hugePagesOf(mode string, ok bool) (State, string) {
	switch {
	case !ok:
		return None, "this system has no transparent huge pages to ask for"
	case mode == "always", mode == "madvise":
		return OK, "transparent huge pages: " + mode
	}
	return Missing, "transparent huge pages are off, which slows packed weights: get them with `echo madvise | sudo tee " + machine.HugePagesFile + "`"
}

func cache(context.Context) (State, string) {
	dir, err := files.Cache()
	if err != nil {
		return Missing, err.Error()
	}
	var size int64
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := e.Info(); err == nil && e.Type().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Missing, dir + ": get it with `make setup`"
	case err != nil:
		return Missing, fmt.Sprintf("cannot be read: %v", err)
	}
	return OK, fmt.Sprintf("%s, %s", dir, figures.Size(size))
}

func modelFiles(context.Context) (State, string) {
	dir, err := models.Dir()
	if err != nil {
		return Missing, err.Error()
	}
	entries, err := models.List(dir)
	if err != nil {
		return Missing, err.Error()
	}
	var there []string
	for _, e := range entries {
		switch e.State {
		case models.Present:
			there = append(there, e.Name)
		case models.WrongSize:
			return Missing, fmt.Sprintf("%s has %d bytes, %s: remove it and run `make setup`", e.Path, e.Size, e.Detail)
		}
	}
	if len(there) == 0 {
		return Missing, fmt.Sprintf("none in %s: get them with `make setup`", dir)
	}
	return OK, strings.Join(there, ", ")
}

// pageCache says how much of the default model is in memory, which decides
// whether a run begins cold or warm.
func pageCache(context.Context) (State, string) {
	path, err := models.Find("")
	if err != nil {
		return None, "no model to look at"
	}
	share, err := pagecache.Resident(path)
	if err != nil {
		return None, err.Error()
	}
	return OK, fmt.Sprintf("%s of %s is in memory", figures.Percent(share), filepath.Base(path))
}
