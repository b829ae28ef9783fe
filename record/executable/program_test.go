package executable

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// put writes a file and returns its path.
func put(t *testing.T, name string, mode os.FileMode, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// header64 is the header of ELF, of the segments that follow (System V ABI, figure 4-3).
func header64(machine elf.Machine, kind elf.Type, segments ...elf.ProgType) []byte {
	h := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(kind), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT), Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: uint16(len(segments)), Shentsize: 64,
	}
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, h)
	for _, s := range segments {
		_ = binary.Write(&b, binary.LittleEndian, elf.Prog64{Type: uint32(s)})
	}
	return b.Bytes()
}

var linux = system{"linux", "amd64"}

func TestRefused(t *testing.T) {
	static := header64(elf.EM_X86_64, elf.ET_EXEC, elf.PT_LOAD)
	dir := t.TempDir()
	for _, c := range []struct {
		name, path string
		on         system
		want       string
	}{
		{"nothing", "", linux, "a name or a path is wanted"},
		{"not in $PATH", "no-such-program-7", linux, "it is not in $PATH"},
		{"no file", filepath.Join(dir, "x"), linux, "there is no such file"},
		{"a folder", dir, linux, "it is a folder"},
		{"a device", "/dev/null", linux, "it is no regular file"},
		{"not executable", put(t, "p", 0o644, static), linux, "it is not executable"},
		{"static", put(t, "p", 0o755, static), linux, "it is statically linked"},
		{"of another processor", put(t, "p", 0o755, header64(elf.EM_AARCH64, elf.ET_EXEC, elf.PT_INTERP)), linux, "it is a program for arm64; one for Linux on amd64 is wanted"},
		{"an object file", put(t, "p", 0o755, header64(elf.EM_X86_64, elf.ET_REL)), linux, "it is no program but an object file"},
		{"cut off", put(t, "p", 0o755, static[:40]), linux, "it is damaged"},
		{"for Linux", put(t, "p", 0o755, static), system{"darwin", "arm64"}, "it is a program for Linux; one for macOS on arm64 is wanted"},
		{"for macOS", put(t, "p", 0o755, mach(cpuARM64, 2, 0, "")), linux, "it is a program for macOS"},
		{"for Windows", put(t, "p", 0o755, []byte("MZ\x90")), linux, "it is a program for Windows"},
		{"a text", put(t, "p", 0o755, []byte("hello\n")), linux, "neither a program for Linux on amd64 nor a script"},
		{"empty", put(t, "p", 0o755, nil), linux, "neither a program"},
		{"of no interpreter", put(t, "p", 0o755, []byte("#!\n")), linux, "names no interpreter"},
		{"of a missing interpreter", put(t, "p", 0o755, []byte("#!/no/such -x\n")), linux, `and of its interpreter: program "/no/such": there is no such file`},
		{"of env's missing one", put(t, "p", 0o755, []byte("#!/usr/bin/env -S A=1 no-such-program-7\n")), linux, "it is not in $PATH"},
		{"of a static interpreter", put(t, "p", 0o755, []byte("#!"+put(t, "q", 0o755, static)+"\n")), linux, "it is statically linked"},
	} {
		_, err := c.on.find(c.path)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestItself: a script is one of its own interpreter, without end.
func TestItself(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	if err := os.WriteFile(path, []byte("#!"+path+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := linux.find(path); err == nil || !strings.Contains(err.Error(), "and so on") {
		t.Errorf("%v", err)
	}
}

// TestFound: programs of this system that are there anyhow.
func TestFound(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIP: needs Linux, whose programs it looks at")
	}
	p, err := Find("sh")
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(p.Path) || p.Image != p.Path || !slices.ContainsFunc(p.Needed, func(l string) bool { return strings.HasPrefix(l, "libc.") }) {
		t.Errorf("%+v", p)
	}
	script := put(t, "script-7", 0o755, []byte("#!/usr/bin/env sh\necho\n"))
	p, err = Find(script)
	if err != nil || p.Path != script || filepath.Base(p.Image) != "sh" {
		t.Errorf("%+v, %v", p, err)
	}
	t.Chdir(filepath.Dir(script))
	if _, err := Find("script-7"); err == nil || !strings.Contains(err.Error(), "./script-7") {
		t.Errorf("%v", err)
	}
}

func TestFinds(t *testing.T) {
	library := put(t, "libobjc.so.4", 0o644, nil)
	dir := filepath.Dir(library)
	p := &Program{Folders: expand("$ORIGIN/../lib:"+dir, "/opt/x/bin/p")}
	if !slices.Equal(p.Folders, []string{"/opt/x/bin/../lib", dir}) {
		t.Errorf("folders %q", p.Folders)
	}
	for _, c := range []struct {
		p        *Program
		searched string
		want     bool
	}{{p, "", true}, {&Program{}, "", false}, {&Program{}, "/nowhere::" + dir, true}, {&Program{}, "/nowhere", false}} {
		if got := c.p.Finds("libobjc.so.4", c.searched); got != c.want {
			t.Errorf("%+v in %q: %v", c.p, c.searched, got)
		}
	}
}

func FuzzLook(f *testing.F) {
	f.Add(header64(elf.EM_X86_64, elf.ET_DYN, elf.PT_INTERP, elf.PT_DYNAMIC))
	f.Add(mach(cpuARM64, 2, hardened, mayLoad))
	f.Add([]byte("#!/bin/sh -e\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(dir, "p")
		if err := os.WriteFile(path, text, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, s := range []system{linux, {"darwin", "arm64"}} {
			if _, err := s.find(path); err != nil && (strings.Contains(err.Error(), "\n") || err.Error() == "") {
				t.Errorf("%q", err)
			}
		}
	})
}
