package executable

import (
	"bytes"
	"debug/macho"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// isMachO says whether a file begins as programs of macOS do.
func isMachO(head []byte) bool {
	if len(head) < 4 {
		return false
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		switch order.Uint32(head) {
		case macho.Magic32, macho.Magic64, macho.MagicFat:
			return true
		}
	}
	return false
}

// processors are those of Mach-O by Go's names.
var processors = map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64", macho.Cpu386: "386", macho.CpuArm: "arm"}

// macho looks at a program of macOS.
func (s system) macho(p *Program, r io.ReaderAt) error {
	if s.os != "darwin" {
		return fmt.Errorf("program %q: it is a program for macOS; one for %s is wanted, which `introgen sdk` helps to build", p.Image, s)
	}
	all, err := readMachO(r)
	if err != nil {
		return fmt.Errorf("program %q: it is damaged: %w", p.Image, err)
	}
	var there []string
	for _, wanted := range []string{s.arch, "amd64"} { // which Rosetta runs
		for _, f := range all {
			if processors[f.Cpu] != wanted {
				there = append(there, f.Cpu.String())
				continue
			}
			if f.Type != macho.TypeExec {
				return fmt.Errorf("program %q: it is a library or an object file, and no program", p.Image)
			}
			return insertable(p, f)
		}
	}
	there = there[:len(all)]
	return fmt.Errorf("program %q: it is a program for %s; one for %s is wanted", p.Image, strings.Join(there, ", "), s)
}

// readMachO are the programs in a file: one, or one for each processor.
func readMachO(r io.ReaderAt) ([]*macho.File, error) {
	fat, err := macho.NewFatFile(r)
	if errors.Is(err, macho.ErrNotFat) {
		f, err := macho.NewFile(r)
		return []*macho.File{f}, err
	}
	if err != nil {
		return nil, err
	}
	var out []*macho.File
	for _, a := range fat.Arches {
		out = append(out, a.File)
	}
	return out, nil
}

// Flags of a code directory (xnu, osfmk/kern/cs_blobs.h).
const (
	restricted        = 0x800   // CS_RESTRICT
	libraryValidation = 0x2000  // CS_REQUIRE_LV
	hardened          = 0x10000 // CS_RUNTIME
)

// What a hardened program must have so that a library of ours can be loaded into it.
const (
	mayInsert = "com.apple.security.cs.allow-dyld-environment-variables"
	mayLoad   = "com.apple.security.cs.disable-library-validation"
)

// insertable refuses a program that asks the system to load nothing into it.
func insertable(p *Program, f *macho.File) error {
	if f.Section("__restrict") != nil {
		return fmt.Errorf("program %q: its section __RESTRICT,__restrict forbids that anything is loaded into it; build it without", p.Image)
	}
	flags, entitled, err := signature(f)
	if err != nil {
		return fmt.Errorf("program %q: its signature is damaged: %w", p.Image, err)
	}
	var lacks []string
	if flags&(hardened|restricted) != 0 && !slices.Contains(entitled, mayInsert) {
		lacks = append(lacks, mayInsert)
	}
	if flags&(hardened|libraryValidation) != 0 && !slices.Contains(entitled, mayLoad) {
		lacks = append(lacks, mayLoad)
	}
	if len(lacks) == 0 {
		return nil
	}
	return fmt.Errorf("program %q: it is signed for the hardened runtime without %s, so that macOS loads no recorder into it; record a copy that is signed anew: cp %[1]s copy && codesign -f -s - copy",
		p.Image, strings.Join(lacks, " and "))
}

// Magic numbers of a signature, whose numbers are big-endian.
const (
	magicSignature    = 0xfade0cc0
	magicDirectory    = 0xfade0c02
	magicEntitlements = 0xfade7171
	loadSignature     = 0x1d // LC_CODE_SIGNATURE
	longestSignature  = 64 << 20
)

// signature reads the flags of a program's signature, and those of its entitlements
// that are asked for here. A program without one has neither.
func signature(f *macho.File) (flags uint32, entitled []string, err error) {
	blob, err := signatureBlob(f)
	if err != nil || blob == nil {
		return 0, nil, err
	}
	if len(blob) < 12 || binary.BigEndian.Uint32(blob) != magicSignature {
		return 0, nil, errors.New("it does not begin as one")
	}
	count := binary.BigEndian.Uint32(blob[8:])
	for i := range uint64(count) {
		at := 12 + 8*i
		if at+8 > uint64(len(blob)) {
			return 0, nil, fmt.Errorf("it says that it has %d parts", count)
		}
		offset := uint64(binary.BigEndian.Uint32(blob[at+4:]))
		if offset+8 > uint64(len(blob)) {
			return 0, nil, fmt.Errorf("part %d lies behind its end", i)
		}
		part := blob[offset:]
		length := uint64(binary.BigEndian.Uint32(part[4:]))
		if length < 8 || length > uint64(len(part)) {
			return 0, nil, fmt.Errorf("part %d has %d bytes", i, length)
		}
		part = part[:length]
		switch binary.BigEndian.Uint32(part) {
		case magicDirectory:
			if len(part) < 16 {
				return 0, nil, errors.New("its directory is too short")
			}
			flags |= binary.BigEndian.Uint32(part[12:])
		case magicEntitlements:
			for _, name := range []string{mayInsert, mayLoad} {
				if isTrue(part[8:], name) {
					entitled = append(entitled, name)
				}
			}
		}
	}
	return flags, entitled, nil
}

// isTrue says whether a property list has a key whose value is true.
func isTrue(list []byte, key string) bool {
	_, behind, found := bytes.Cut(list, []byte("<key>"+key+"</key>"))
	return found && bytes.HasPrefix(bytes.TrimSpace(behind), []byte("<true/>"))
}

// signatureBlob is the signature's bytes; nil where there is none.
func signatureBlob(f *macho.File) ([]byte, error) {
	for _, l := range f.Loads {
		raw := l.Raw()
		if len(raw) < 16 || f.ByteOrder.Uint32(raw) != loadSignature {
			continue
		}
		offset, size := f.ByteOrder.Uint32(raw[8:]), f.ByteOrder.Uint32(raw[12:])
		if size > longestSignature {
			return nil, fmt.Errorf("it has %d bytes", size)
		}
		return linkedit(f, uint64(offset), uint64(size))
	}
	return nil, nil
}

// linkedit reads bytes of the file, which lie in the segment for what the linker
// leaves behind.
func linkedit(f *macho.File, offset, size uint64) ([]byte, error) {
	s := f.Segment("__LINKEDIT")
	if s == nil || offset < s.Offset || offset+size > s.Offset+s.Filesz {
		return nil, fmt.Errorf("its %d bytes at %d lie in no segment", size, offset)
	}
	b := make([]byte, size)
	if _, err := s.ReadAt(b, int64(offset-s.Offset)); err != nil {
		return nil, err
	}
	return b, nil
}
