package recorder

import (
	"context"
	"debug/macho"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/metalshim/soft/clibrary"
)

// The sources have no warnings on any system that they are for.
func TestNoWarnings(t *testing.T) {
	tools, err := clang.Find(t.Context())
	if err != nil {
		t.Skipf("SKIP: needs clang: %v", err)
	}
	for target, arch := range map[string]string{
		"x86_64-linux-gnu": "amd64", "aarch64-linux-gnu": "arm64", "arm64-apple-macos12": "", "x86_64-apple-macos12": "",
	} {
		argv := slices.Concat(tools.Compiler, flags(arch), []string{"--target=" + target, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-"})
		if err := clibrary.Run(t.Context(), source(), argv); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// A hook whose signature is not that of its method does not compile.
func TestWrongSignatures(t *testing.T) {
	tools, err := clang.Find(t.Context())
	if err != nil {
		t.Skipf("SKIP: needs clang: %v", err)
	}
	for from, to := range map[string]string{
		"id self, SEL cmd, MTLSize grid, MTLSize group) {\n\tOUTERMOST(original(self, cmd, grid, group));\n\tdispatched(self, grid, group, THREADS)": "id self, SEL cmd, MTLSize *grid, MTLSize group) {\n\tOUTERMOST(original(self, cmd, *grid, group));\n\tdispatched(self, *grid, group, THREADS)",
		"NSRange range, u8 value) {":                                "NSRange range, u32 value) {",
		"static BOOL h_serializeToURL_error_(":                      "static id h_serializeToURL_error_(",
		"static id h_newSharedEvent(t_newSharedEvent original,":     "static id h_newSharedEvents(t_newSharedEvent original,",
		"static void h_commit(t_commit original, id self, SEL cmd)": "static void h_commit(t_commit original, id self)",
	} {
		text := strings.Replace(source(), from, to, 1)
		if text == source() {
			t.Errorf("%q is not in the sources", from)
			continue
		}
		argv := slices.Concat(tools.Compiler, flags("amd64"), []string{"--target=x86_64-linux-gnu", "-Werror", "-fsyntax-only", "-"})
		if err := clibrary.Run(t.Context(), text, argv); err == nil {
			t.Errorf("%q compiles", to)
		}
	}
}

func TestEverySourceIsCompiled(t *testing.T) {
	entries, err := files.ReadDir("c")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := slices.Sorted(slices.Values(order)); !slices.Equal(names, want) {
		t.Errorf("c has %v, compiled are %v", names, want)
	}
}

// zigVersion is that of the Python package ziglang, which has the linker for
// macOS and the list of what its C library exports. scripts/recorder-macos
// brings it.
const zigVersion = "0.14.1"

// zig is the program, or the test is skipped.
func zig(t *testing.T) string {
	t.Helper()
	base, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("SKIP: needs ziglang: %v", err)
	}
	python := filepath.Join(base, "introgen", "ziglang-"+zigVersion, "bin", "python3")
	for _, p := range []string{python, "python3"} {
		out, err := exec.CommandContext(t.Context(), p, "-c", "import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), 'zig'))").Output()
		if path := strings.TrimSpace(string(out)); err == nil && path != "" {
			version, err := exec.CommandContext(t.Context(), path, "version").Output()
			if err == nil && strings.TrimSpace(string(version)) == zigVersion {
				return path
			}
		}
	}
	t.Skipf("SKIP: needs the Python package ziglang %s: run scripts/recorder-macos", zigVersion)
	return ""
}

// The library for macOS is linked on any system, for both of its architectures:
// dyld finds what it is to interpose, it exports one name, and all that it needs
// is in libSystem, but for Metal's functions.
func TestMacLibrary(t *testing.T) {
	path := zig(t)
	for target, cpu := range map[string]macho.Cpu{"aarch64-macos": macho.CpuArm64, "x86_64-macos": macho.CpuAmd64} {
		t.Run(target, func(t *testing.T) {
			made := filepath.Join(t.TempDir(), "recorder.dylib")
			argv := slices.Concat([]string{path, "cc", "-target", target}, flags(""), []string{"-dynamiclib", "-Wl,-undefined,dynamic_lookup", "-o", made, "-"})
			cmd := exec.CommandContext(context.WithoutCancel(t.Context()), argv[0], argv[1:]...)
			cmd.Stdin = strings.NewReader(source())
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			f, err := macho.Open(made)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			checkMacLibrary(t, f, cpu)
		})
	}
}

func checkMacLibrary(t *testing.T, f *macho.File, cpu macho.Cpu) {
	t.Helper()
	if f.Cpu != cpu || f.Type != macho.TypeDylib {
		t.Errorf("%v, %v", f.Cpu, f.Type)
	}
	section := f.Section("__interpose")
	if section == nil || !strings.HasPrefix(section.Seg, "__DATA") || section.Size != 5*16 {
		t.Fatalf("__interpose: %+v", section)
	}
	if libraries, err := f.ImportedLibraries(); err != nil || len(libraries) != 1 || libraries[0] != "/usr/lib/libSystem.B.dylib" {
		t.Errorf("it needs %v, %v", libraries, err)
	}
	if s := f.Section("__mod_init_func"); s == nil || s.Size != 8 {
		t.Errorf("constructors: %+v", s)
	}
	metal := []string{"_MTLCopyAllDevices", "_MTLCopyAllDevicesWithObserver", "_MTLCreateSystemDefaultDevice"}
	var exported, elsewhere []string
	for _, s := range f.Symtab.Syms {
		const external, undefined, stab, private = 1, 0, 0xe0, 0x10
		if s.Type&external == 0 || s.Type&(stab|private) != 0 {
			continue
		}
		if s.Type&0xe != undefined {
			if s.Name != "__mh_dylib_header" && s.Name != "___dso_handle" { // the linker's own
				exported = append(exported, s.Name)
			}
		} else if s.Desc>>8 != 1 { // the library's number, which is its first
			elsewhere = append(elsewhere, s.Name)
		}
	}
	slices.Sort(elsewhere)
	if !slices.Equal(elsewhere, metal) {
		t.Errorf("not in libSystem: %v", elsewhere)
	}
	if !slices.Equal(exported, []string{"_introgen_mark"}) {
		t.Errorf("it exports %v", exported)
	}
	interposed(t, f, section)
}

// interposed checks that each pair has a function of the library first; the
// second is bound when it is loaded.
func interposed(t *testing.T, f *macho.File, section *macho.Section) {
	t.Helper()
	words, err := section.Data()
	if err != nil {
		t.Fatal(err)
	}
	code := f.Section("__text")
	seen := map[uint64]bool{}
	for i := 0; i < len(words); i += 16 {
		at := binary.LittleEndian.Uint64(words[i:])
		if at < code.Addr || at >= code.Addr+code.Size || seen[at] {
			t.Errorf("pair %d begins with %#x, which is no function of its own", i/16, at)
		}
		seen[at] = true
	}
}
