//go:build linux && (amd64 || arm64)

package standin

import (
	"context"
	"debug/elf"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim/apple/abi"
	"github.com/introgen/introgen/metalshim/shimtest"
	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/metalshim/soft/clibrary"
)

// tools is the clang that the tests of the sources need.
func tools(t *testing.T) *clang.Toolchain {
	t.Helper()
	c, err := clang.Find(t.Context())
	if err != nil {
		t.Skipf("SKIP: needs clang: %v", err)
	}
	return c
}

// check compiles text without writing code, and returns what clang says.
func check(t *testing.T, arch, text string, more ...string) string {
	t.Helper()
	argv := append(append([]string{}, tools(t).Compiler...), flags(arch)...)
	argv = append(append(argv, "--target="+clibrary.Targets[arch], "-fsyntax-only"), more...)
	err := clibrary.Run(t.Context(), text, append(argv, "-"))
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestEverySourceIsCompiled(t *testing.T) {
	entries, err := fs.ReadDir(sources, "c")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := slices.Sorted(slices.Values(slices.Concat(order, beside)))
	if !slices.Equal(names, want) {
		t.Errorf("c has %v, compiled are %v", names, want)
	}
}

func TestNoWarnings(t *testing.T) {
	for arch := range clibrary.Targets {
		if got := check(t, arch, programSource(), append(programFlags, "-Wall", "-Wextra", "-Werror")...); got != "" {
			t.Errorf("%s, for programs: %s", arch, got)
		}
		if got := check(t, arch, source(), "-Wall", "-Wextra", "-Werror"); got != "" {
			t.Errorf("%s: %s", arch, got)
		}
	}
}

// A body whose types are not Apple's does not compile, nor one of a method
// that Apple does not have.
func TestWrongSignatures(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"(id self, SEL cmd, MTLSize grid, MTLSize group) {\n\t(void)cmd;\n\tdispatch(self, DISPATCH_THREADS", "(id self, SEL cmd, MTLSize *grid, MTLSize group) {\n\t(void)cmd;\n\tdispatch(self, DISPATCH_THREADS, *", "conflicting types for 'i_MTLComputeCommandEncoder_dispatchThreads_threadsPerThreadgroup_'"},
		{"id buffer, NSRange range, u8 value)", "id buffer, NSRange range, u32 value)", "conflicting types for 'i_MTLBlitCommandEncoder_fillBuffer_range_value_'"},
		{"double i_MTLCommandBuffer_GPUEndTime", "float i_MTLCommandBuffer_GPUEndTime", "conflicting types for 'i_MTLCommandBuffer_GPUEndTime'"},
		{"truth i_MTLDevice_isLowPower", "BOOL i_MTLDevice_isLowPower", "conflicting types for 'i_MTLDevice_isLowPower'"},
		{"return answer(facts.low_power != 0);", "return facts.low_power != 0;", "incompatible result type 'truth'"},
		{"id i_MTLDevice_newFence(id self", "id i_MTLDevice_newFences(id self", "no previous prototype for function 'i_MTLDevice_newFences'"},
		{"u64 i_MTLBuffer_length(id self, SEL cmd)", "u64 i_MTLBuffer_length(id self)", "conflicting types for 'i_MTLBuffer_length'"},
		{"EXPORT id objc_getClass(const char *name)", "EXPORT id objc_getClass(char *name)", "conflicting types for 'objc_getClass'"},
	} {
		text := strings.Replace(source(), c.from, c.to, 1)
		if text == source() {
			t.Errorf("%q is not in the sources", c.from)
		} else if got := check(t, "amd64", text); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.to, got)
		}
	}
}

// The object exports what Apple's libraries do, and needs nothing that a
// process with a C library does not have.
func TestSymbols(t *testing.T) {
	tools(t)
	table, err := abi.LoadAll()
	if err != nil {
		t.Fatal(err)
	}
	wanted := []string{"objc_msgSend", "sel_getName", "class_respondsToSelector", "_NSConcreteGlobalBlock", "_NSConcreteStackBlock", "_Block_copy", "_Block_release"}
	for name := range table.Functions {
		wanted = append(wanted, name)
	}
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		t.Run(arch, func(t *testing.T) {
			path, err := testLibrary().BuildFor(t.Context(), arch)
			if err != nil {
				t.Fatal(err)
			}
			f, err := elf.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			symbols, err := f.DynamicSymbols()
			if err != nil || f.Machine != machine {
				t.Fatal(f.Machine, err)
			}
			defined := map[string]bool{}
			for _, s := range symbols {
				if s.Section != elf.SHN_UNDEF {
					defined[s.Name] = true
				} else if strings.HasPrefix(s.Name, "__aarch64") || strings.HasPrefix(s.Name, "i_") || strings.HasPrefix(s.Name, "c_") {
					t.Errorf("it needs %s", s.Name)
				}
			}
			for _, name := range wanted {
				if !defined[name] {
					t.Errorf("%s is not exported", name)
				}
			}
			if defined["objc_msgSend_stret"] != (arch == "amd64") {
				t.Errorf("objc_msgSend_stret exported: %v", defined["objc_msgSend_stret"])
			}
			if libs, err := f.ImportedLibraries(); err != nil || len(libs) > 0 {
				t.Errorf("it needs %v (%v)", libs, err)
			}
		})
	}
}

// Every selector of the driver has a body, and the bodies are a known number,
// so that none is lost without notice.
func TestBodies(t *testing.T) {
	s := served(t, Options{})
	calls := s.Calls()
	if len(calls) < 180 {
		t.Errorf("%d methods have a body", len(calls))
	}
	table, err := abi.LoadAll()
	if err != nil {
		t.Fatal(err)
	}
	for name := range calls {
		if table.Find(name) == nil {
			t.Errorf("%s is not in the table", name)
		}
	}
	t.Logf("%d of %d methods have a body", len(calls), len(table.Methods))
}

func served(t *testing.T, o Options) *Server {
	t.Helper()
	path, err := Build(t.Context())
	if err != nil {
		t.Skipf("SKIP: needs a C compiler: %v", err)
	}
	s, err := Serve(path, &shimtest.Device{}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestServeErrors(t *testing.T) {
	path, err := Build(t.Context())
	if err != nil {
		t.Skipf("SKIP: needs a C compiler: %v", err)
	}
	dev := &shimtest.Device{}
	if _, err := Serve(filepath.Join(t.TempDir(), "none.so"), dev, Options{}); err == nil || !strings.Contains(err.Error(), "none.so") {
		t.Errorf("an absent file: %v", err)
	}
	if _, err := Serve(path, dev, Options{Lacks: []string{"newTeapot"}}); err == nil || !strings.Contains(err.Error(), "newTeapot") {
		t.Errorf("an unknown selector: %v", err)
	}
	_, older, err := Parse("build,macos=13.0")
	if err != nil {
		t.Fatal(err)
	}
	served(t, older) // what it lacks is in the table
	if _, err := Serve(path, dev, Options{}); err == nil || !strings.Contains(err.Error(), "another server") {
		t.Errorf("a second server: %v", err)
	}
}

// Without clang the system's cc serves; without both there is ErrCompiler.
func TestOtherCompilers(t *testing.T) {
	t.Setenv(clang.EnvPath, "/nowhere/clang")
	t.Run("cc", func(t *testing.T) {
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		path, err := Build(t.Context())
		if errors.Is(err, ErrCompiler) {
			t.Skipf("SKIP: needs cc: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		s, err := Serve(path, &shimtest.Device{}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("none", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		if _, err := Build(context.Background()); !errors.Is(err, ErrCompiler) {
			t.Errorf("%v", err)
		}
	})
	t.Run("broken", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "cc"), []byte("#!/bin/sh\necho no: such option >&2\nexit 1\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir)
		t.Setenv("XDG_CACHE_HOME", dir)
		if _, err := Build(context.Background()); err == nil || !strings.Contains(err.Error(), "no: such option") {
			t.Errorf("%v", err)
		}
		left, err := filepath.Glob(filepath.Join(dir, "introgen", "standin", "*"))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}
