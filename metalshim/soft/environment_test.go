package soft

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/trace/names"
)

// variables are what clang 19, its linker, and the dynamic linker that starts
// both look at in the environment, each with a value that would tell: from
// clang's manual page and its user's manual, from the names that stand in the
// programs and their libraries beside a call of getenv, and from ld.so(8). DIR
// stands for a folder that holds a header seen.h, a file clang.cfg and a shared
// object that is none.
var variables = []struct{ name, value string }{
	// What is searched.
	{"CPATH", "DIR"}, {"C_INCLUDE_PATH", "DIR"}, {"CPLUS_INCLUDE_PATH", "DIR"}, {"OBJC_INCLUDE_PATH", "DIR"},
	{"OBJCPLUS_INCLUDE_PATH", "DIR"}, {"COMPILER_PATH", "DIR"}, {"LIBRARY_PATH", "DIR"}, {"GCC_EXEC_PREFIX", "DIR/"},
	{"SDKROOT", "DIR"}, {"PATH", "DIR"}, {"HIP_PATH", "DIR"}, {"HIP_DEVICE_LIB_PATH", "DIR"}, {"ROCM_PATH", "DIR"},
	{"CUDA_PATH", "DIR"}, {"INCLUDE", "DIR"}, {"LIB", "DIR"}, {"VCToolsInstallDir", "DIR"}, {"SCE_ORBIS_SDK_DIR", "DIR"},
	{"SCE_PROSPERO_SDK_DIR", "DIR"}, {"NCC_CPLUS_INCLUDE_PATH", "DIR"}, {"XCC_CPLUS_INCLUDE_PATH", "DIR"},
	// Arguments, and files of arguments.
	{"CCC_OVERRIDE_OPTIONS", "# +-DSEEN +-include +DIR/seen.h xc++"}, {"CCC_ADD_ARGS", "-DSEEN"}, {"CL", "/DSEEN"}, {"_CL_", "/DSEEN"},
	{"QA_OVERRIDE_GCC3_OPTIONS", "+-DSEEN"}, {"CLANG_NO_DEFAULT_CONFIG", "0"}, {"CLANG_CONFIG_FILE_USER_DIR", "DIR"},
	{"CLANG_CONFIG_FILE_SYSTEM_DIR", "DIR"}, {"XDG_CONFIG_HOME", "DIR"}, {"HOME", "DIR"}, {"CFLAGS", "-DSEEN"}, {"CXXFLAGS", "-DSEEN"},
	{"CPPFLAGS", "-DSEEN"}, {"LDFLAGS", "-lm"}, {"CC", "false"}, {"CXX", "false"},
	// The clock and the target.
	{"SOURCE_DATE_EPOCH", "86400"}, {"ZERO_AR_DATE", "1"}, {"TZ", "Asia/Tokyo"}, {"MACOSX_DEPLOYMENT_TARGET", "10.4"},
	{"IPHONEOS_DEPLOYMENT_TARGET", "3.0"}, {"TVOS_DEPLOYMENT_TARGET", "9.0"}, {"WATCHOS_DEPLOYMENT_TARGET", "2.0"},
	{"DRIVERKIT_DEPLOYMENT_TARGET", "19.0"}, {"XROS_DEPLOYMENT_TARGET", "1.0"}, {"RC_DEBUG_OPTIONS", "1"},
	{"RC_DEBUG_PREFIX_MAP", "DIR=x"}, {"LLVM_OVERRIDE_PRODUCER", "another compiler"},
	// What is printed, where, and in which words.
	{"CC_PRINT_OPTIONS", "1"}, {"CC_PRINT_OPTIONS_FILE", "DIR/out"}, {"CC_PRINT_HEADERS", "1"}, {"CC_PRINT_HEADERS_FILE", "DIR/out"},
	{"CC_PRINT_HEADERS_FORMAT", "json"}, {"CC_PRINT_HEADERS_FILTERING", "only-direct-system"}, {"CC_LOG_DIAGNOSTICS", "1"},
	{"CC_LOG_DIAGNOSTICS_FILE", "DIR/out"}, {"CC_PRINT_PROC_STAT", "1"}, {"CC_PRINT_PROC_STAT_FILE", "DIR/out"},
	{"CC_PRINT_INTERNAL_STAT", "1"}, {"CC_PRINT_INTERNAL_STAT_FILE", "DIR/out"}, {"DEPENDENCIES_OUTPUT", "DIR/out"},
	{"SUNPRO_DEPENDENCIES", "DIR/out"}, {"AS_SECURE_LOG_FILE", "DIR/out"}, {"LANG", "ja_JP.UTF-8"}, {"LC_ALL", "ja_JP.UTF-8"},
	{"LC_MESSAGES", "ja_JP.UTF-8"}, {"LANGUAGE", "ja"}, {"TERM", "xterm-256color"}, {"COLORTERM", "truecolor"}, {"NO_COLOR", "1"},
	{"CLICOLOR_FORCE", "1"}, {"COLUMNS", "20"},
	// Where files are put, and what happens in a crash.
	{"TMPDIR", "DIR/none"}, {"TMP", "DIR/none"}, {"TEMP", "DIR/none"}, {"XDG_CACHE_HOME", "DIR/none"}, {"CLANG_MODULE_CACHE_PATH", "DIR"},
	{"CLANG_CRASH_DIAGNOSTICS_DIR", "DIR"}, {"FORCE_CLANG_DIAGNOSTICS_CRASH", "1"}, {"FORCE_LLD_DIAGNOSTICS_CRASH", "1"},
	{"CLANG_SPAWN_CC1", "1"}, {"LIBCLANG_DISABLE_PCH_VALIDATION", "1"}, {"LIBCLANG_TIMING", "1"}, {"LIBCLANG_OBJTRACKING", "1"},
	{"CINDEXTEST_FAILONERROR", "1"}, {"OFFLOAD_BUNDLER_IGNORE_ENV_VAR", "1"}, {"LLVM_DISABLE_SYMBOLIZATION", "1"},
	{"LLVM_ENABLE_SYMBOLIZER_MARKUP", "1"}, {"LLVM_SYMBOLIZER_PATH", "DIR"}, {"LLVM_DISABLE_CRASH_REPORT", "1"},
	{"LLVM_PROFILE_FILE", "DIR/out"}, {"LLVM_COVERAGE_FILE", "DIR/out"}, {"AMD_SPLIT_MODULE_LOG_DIR", "DIR"},
	// The linker.
	{"LLD_REPRODUCE", "DIR/out.tar"}, {"LLD_VERSION", "another linker"}, {"LLD_IN_TEST", "2"}, {"LD_RUN_PATH", "DIR"},
	// What is loaded into all of them.
	{"LD_LIBRARY_PATH", "DIR"}, {"LD_PRELOAD", "DIR/libLLVM.so.19.1"}, {"LD_AUDIT", "DIR/libLLVM.so.19.1"}, {"LD_BIND_NOW", "1"},
	{"LD_DEBUG", "libs"}, {"LD_DEBUG_OUTPUT", "DIR/out"}, {"LD_ASSUME_KERNEL", "2.2.5"}, {"LD_TRACE_LOADED_OBJECTS", "1"},
	{"GLIBC_TUNABLES", "glibc.malloc.check=3"}, {"MALLOC_PERTURB_", "85"},
	// What the Python package's zig would look at.
	{"ZIG_LIB_DIR", "DIR"}, {"ZIG_GLOBAL_CACHE_DIR", "DIR/none"}, {"ZIG_LOCAL_CACHE_DIR", "DIR/none"}, {"ZIG_LIBC", "DIR/seen.h"},
	{"NIX_CFLAGS_COMPILE", "-DSEEN"}, {"CCACHE_PREFIX", "false"},
}

// telling are those by which the compiler, left to itself, makes something else
// of the source below, prints another thing, or ends otherwise: the values above
// are not idle. Others tell on other systems, or about what is not done here.
var telling = []string{"CPLUS_INCLUDE_PATH", "CPATH", "CCC_OVERRIDE_OPTIONS", "SOURCE_DATE_EPOCH", "CC_PRINT_OPTIONS",
	"CC_PRINT_PROC_STAT", "FORCE_CLANG_DIAGNOSTICS_CRASH", "LD_TRACE_LOADED_OBJECTS"}

const looking = `
#if __has_include(<seen.h>) || __has_include("seen.h") || defined(SEEN)
#define VALUE 8
#else
#define VALUE 7
#endif
`

// mutated is a folder in which there is something to be seen, and the variables'
// values.
func mutated(t *testing.T) (dir string, values map[string]string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{"seen.h": "#define SEEN\n", "clang.cfg": "-DSEEN\n", "clang++.cfg": "-DSEEN\n",
		"libLLVM.so.19.1": "none", "libclang-cpp.so.19.1": "none", "x86_64-pc-linux-gnu-clang.cfg": "-DSEEN\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	values = map[string]string{}
	for _, v := range variables {
		if values[v.name] != "" {
			t.Errorf("%s stands there twice", v.name)
		}
		values[v.name] = strings.ReplaceAll(v.value, "DIR", dir)
	}
	values["PATH"] += string(os.PathListSeparator) + os.Getenv("PATH") // the linker may be found by it
	return dir, values
}

// TestEnvironmentIsNotSeen: each variable in turn has a value by which the
// compiler would do another thing, and what was compiled without it is found by
// its key. Then all of them have, nothing is found, and the same comes out.
func TestEnvironmentIsNotSeen(t *testing.T) {
	testDevice(t)
	source := seeing(looking, "VALUE")
	compiled := func(dir string, want string) []byte {
		t.Helper()
		d := openAt(t, Options{CacheDir: dir, Workers: 1})
		defer d.Close()
		if lib, pipe := states(t, d, source); lib.State != want || pipe.State != want {
			t.Errorf("library %s, pipeline %s, want %s", lib.State, pipe.State, want)
		}
		l, err := d.NewLibrary(context.Background(), metalshim.Source{Name: "tiny", Text: source})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Release()
		return l.(*library).bitcode
	}
	cold := filepath.Join(t.TempDir(), "cache")
	bitcode := compiled(cold, names.CacheMiss)
	tools, err := clang.Find(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	// What finds the compiler and its cache is this program's business.
	t.Setenv(clang.EnvPath, tools.Path)
	dir, values := mutated(t)
	t.Chdir(dir)
	for _, v := range variables {
		t.Run(v.name, func(t *testing.T) {
			t.Setenv(v.name, values[v.name])
			compiled(cold, names.CacheHit)
		})
	}
	for name, value := range values {
		t.Setenv(name, value)
	}
	if got := compiled(filepath.Join(t.TempDir(), "cache"), names.CacheMiss); !bytes.Equal(got, bitcode) {
		t.Errorf("another bitcode of %d bytes comes out, %d without the variables", len(got), len(bitcode))
	}
	for _, name := range []string{"out", "out.tar", "none"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("the compiler wrote %s", name)
		}
	}
}

// TestVariablesTell: the list above is not of variables that do nothing.
func TestVariablesTell(t *testing.T) {
	d := testDevice(t)
	dir, values := mutated(t)
	alone := func(more ...string) string {
		argv := append(slices.Clone(d.tools.Compiler), "-E", "-x", "c++", "-")
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = "/", append([]string{"PATH=/usr/bin:/bin", "TMPDIR=" + dir}, more...)
		cmd.Stdin = strings.NewReader(looking + "VALUE __DATE__\n")
		out, err := cmd.CombinedOutput()
		if err != nil {
			return err.Error()
		}
		return string(out)
	}
	plain := alone()
	for _, name := range telling {
		if len(d.tools.Compiler) > 1 && strings.HasPrefix(name, "LD_") {
			continue // zig is loaded by nobody
		}
		if got := alone(name + "=" + values[name]); got == plain {
			t.Errorf("%s=%s tells nothing", name, values[name])
		}
	}
}
