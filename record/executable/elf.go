package executable

import (
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// machines are those of ELF by Go's names.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "riscv64": elf.EM_RISCV, "386": elf.EM_386, "arm": elf.EM_ARM}

// archOf is Go's name of a machine, or ELF's.
func archOf(m elf.Machine) string {
	for arch, machine := range machines {
		if machine == m {
			return arch
		}
	}
	return m.String()
}

// elf looks at a program of Linux.
func (s system) elf(p *Program, r io.ReaderAt) error {
	f, err := elf.NewFile(r)
	if err != nil {
		return fmt.Errorf("program %q: it is damaged: %w", p.Image, err)
	}
	defer f.Close()
	switch {
	case s.os != "linux":
		return fmt.Errorf("program %q: it is a program for Linux; one for %s is wanted", p.Image, s)
	case f.Type == elf.ET_REL || f.Type == elf.ET_CORE:
		return fmt.Errorf("program %q: it is no program but %s; link it first", p.Image, map[elf.Type]string{elf.ET_REL: "an object file", elf.ET_CORE: "a memory dump"}[f.Type])
	case f.Machine != machines[s.arch]:
		return fmt.Errorf("program %q: it is a program for %s; one for %s is wanted", p.Image, archOf(f.Machine), s)
	}
	loaded := false
	for _, segment := range f.Progs {
		loaded = loaded || segment.Type == elf.PT_INTERP
	}
	if !loaded {
		return fmt.Errorf("program %q: it is statically linked, and nothing can be loaded into it; link it with shared libraries (of a Go program: with cgo)", p.Image)
	}
	if p.Needed, err = f.ImportedLibraries(); err != nil {
		return fmt.Errorf("program %q: it is damaged: %w", p.Image, err)
	}
	for _, tag := range []elf.DynTag{elf.DT_RUNPATH, elf.DT_RPATH} {
		paths, err := f.DynString(tag)
		if err != nil {
			return fmt.Errorf("program %q: it is damaged: %w", p.Image, err)
		}
		for _, list := range paths {
			p.Folders = append(p.Folders, expand(list, p.Image)...)
		}
	}
	return nil
}

// expand reads a search path of ELF, in which $ORIGIN is the program's folder.
func expand(list, image string) []string {
	origin, err := filepath.Abs(filepath.Dir(image))
	if err != nil {
		origin = filepath.Dir(image)
	}
	var out []string
	for _, folder := range strings.Split(list, ":") {
		if folder == "" {
			continue
		}
		out = append(out, strings.NewReplacer("$ORIGIN", origin, "${ORIGIN}", origin).Replace(folder))
	}
	return out
}

// Finds says whether the program finds a library by itself: in the folders that it
// names, or those of a search path such as LD_LIBRARY_PATH.
func (p *Program) Finds(library, searched string) bool {
	for _, folder := range append(strings.Split(searched, ":"), p.Folders...) {
		if folder == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(folder, library)); err == nil {
			return true
		}
	}
	return false
}
