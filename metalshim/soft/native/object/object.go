// Package object puts a relocatable object file, as clang writes it for one
// kernel, where it can run: the work of a linker and of a dynamic linker for the
// little that such a file needs. So no program has to be started to link it.
//
// It knows what clang emits with -fPIC for x86-64 and arm64 (System V ABI, AMD64
// Architecture Processor Supplement; ELF for the Arm 64-bit Architecture), and
// what it does not know is an error: a file that is damaged is never run.
package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// largest bounds the memory of an object, in bytes. It is less than a call
// reaches on either processor.
const largest = 64 << 20

// Object is an object file whose place in memory has been planned.
type Object struct {
	machine  elf.Machine
	sections []section
	symbols  []symbol // by the file's numbers; the first is none
	fixes    []fix
	got      []uint32 // symbols whose addresses stand in a table
	stubs    []uint32 // symbols that are called through it

	kinds            [kinds]span
	gotAt, stubsAt   uint64
	sectionByFileNum map[elf.SectionIndex]int
}

// Kinds of memory, in their order.
const (
	executable = iota
	readOnly
	writable
	kinds
)

// span is a part of an object's memory.
type span struct{ start, end uint64 }

// section is one that is loaded.
type section struct {
	name    string
	content []byte // shorter than size where the rest is 0
	size    uint64
	align   uint64
	kind    int
	at      uint64 // in the object's memory
}

// symbol is a name, or a place in a section.
type symbol struct {
	name              string
	section           int // -1: none that is loaded
	value             uint64
	undefined, weak   bool
	absolute          bool
	slot, stub        int // its numbers in got and stubs, or -1
	exported, unusual bool
}

// fix is a relocation.
type fix struct {
	section int
	offset  uint64
	kind    uint32
	symbol  uint32
	addend  int64
}

// Parse reads an object file and plans its memory, in pages of the given size.
func Parse(code []byte, page uint64) (*Object, error) {
	f, err := elf.NewFile(bytes.NewReader(code))
	if err != nil {
		return nil, fmt.Errorf("object file: %w", err)
	}
	if f.Class != elf.ELFCLASS64 || f.Data != elf.ELFDATA2LSB || f.Type != elf.ET_REL {
		return nil, fmt.Errorf("object file: it is %v, %v, %v; want one that is relocatable, of 64 bits, little-endian", f.Type, f.Class, f.Data)
	}
	if f.Machine != elf.EM_X86_64 && f.Machine != elf.EM_AARCH64 {
		return nil, fmt.Errorf("object file: it is for %v; want x86-64 or arm64", f.Machine)
	}
	o := &Object{machine: f.Machine, sectionByFileNum: map[elf.SectionIndex]int{}}
	table := -1
	for i, s := range f.Sections {
		if s.Type == elf.SHT_SYMTAB {
			if table >= 0 {
				return nil, fmt.Errorf("object file: it has two tables of symbols")
			}
			table = i
		}
		if s.Flags&elf.SHF_ALLOC == 0 || s.Name == ".eh_frame" {
			continue // not for running: nothing unwinds through kernels
		}
		if err := o.addSection(code, s, page); err != nil {
			return nil, fmt.Errorf("object file: section %q: %w", s.Name, err)
		}
		o.sectionByFileNum[elf.SectionIndex(i)] = len(o.sections) - 1
	}
	if table < 0 {
		return nil, fmt.Errorf("object file: it has no table of symbols")
	}
	if err := o.readSymbols(f); err != nil {
		return nil, fmt.Errorf("object file: %w", err)
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_RELA && s.Type != elf.SHT_REL {
			continue
		}
		target, loaded := o.sectionByFileNum[elf.SectionIndex(s.Info)]
		if !loaded {
			continue
		}
		if err := o.readFixes(code, s, target, table); err != nil {
			return nil, fmt.Errorf("object file: section %q: %w", s.Name, err)
		}
	}
	return o, o.plan(page)
}

// inFile is what the file holds of a section.
func inFile(code []byte, s *elf.Section) ([]byte, error) {
	n := uint64(len(code))
	if s.Offset > n || s.FileSize > n-s.Offset {
		return nil, fmt.Errorf("it ends after the file, which has %d bytes", n)
	}
	return code[s.Offset : s.Offset+s.FileSize], nil
}

// known are flags of a section that change nothing here, beside those of its
// memory. Sections whose equal parts may be joined are left as they are.
const known = elf.SHF_ALLOC | elf.SHF_WRITE | elf.SHF_EXECINSTR | elf.SHF_MERGE | elf.SHF_STRINGS | elf.SHF_GROUP | elf.SHF_INFO_LINK | elf.SHF_LINK_ORDER

func (o *Object) addSection(code []byte, s *elf.Section, page uint64) error {
	made := section{name: s.Name, size: s.Size, align: max(s.Addralign, 1), kind: readOnly}
	if extra := s.Flags &^ known; extra != 0 {
		return fmt.Errorf("flags %v are not supported", extra)
	}
	if bits.OnesCount64(made.align) != 1 || made.align > page {
		return fmt.Errorf("alignment %d: want a power of two up to %d", made.align, page)
	}
	switch {
	case s.Flags&elf.SHF_WRITE != 0 && s.Flags&elf.SHF_EXECINSTR != 0:
		return fmt.Errorf("it is writable and executable")
	case s.Flags&elf.SHF_WRITE != 0 && s.Name != ".data.rel.ro":
		made.kind = writable
	case s.Flags&elf.SHF_EXECINSTR != 0:
		made.kind = executable
	}
	switch s.Type {
	case elf.SHT_NOBITS:
	case elf.SHT_PROGBITS, elf.SHT_NOTE:
		var err error
		if made.content, err = inFile(code, s); err != nil {
			return err
		}
	default:
		return fmt.Errorf("type %v is not supported", s.Type)
	}
	if made.size > largest {
		return fmt.Errorf("%d bytes, at most %d are taken", made.size, uint64(largest))
	}
	o.sections = append(o.sections, made)
	return nil
}

func (o *Object) readSymbols(f *elf.File) error {
	list, err := f.Symbols()
	if err != nil {
		return err
	}
	o.symbols = make([]symbol, 1, len(list)+1)
	o.symbols[0] = symbol{section: -1, absolute: true, slot: -1, stub: -1}
	for _, s := range list {
		bind, kind := elf.ST_BIND(s.Info), elf.ST_TYPE(s.Info)
		made := symbol{name: s.Name, section: -1, value: s.Value, weak: bind == elf.STB_WEAK, slot: -1, stub: -1,
			exported: bind != elf.STB_LOCAL, unusual: kind == elf.STT_TLS || kind == elf.STT_GNU_IFUNC}
		switch {
		case s.Section == elf.SHN_UNDEF:
			made.undefined = true
		case s.Section == elf.SHN_ABS:
			made.absolute = true
		case s.Section >= elf.SHN_LORESERVE:
			made.unusual = true
		default:
			n, loaded := o.sectionByFileNum[s.Section]
			if !loaded {
				break // its users, if any, are refused
			}
			if made.section = n; s.Value > o.sections[n].size {
				return fmt.Errorf("symbol %q lies at %d in section %q of %d bytes", s.Name, s.Value, o.sections[n].name, o.sections[n].size)
			}
		}
		o.symbols = append(o.symbols, made)
	}
	return nil
}

func (o *Object) readFixes(code []byte, s *elf.Section, target, table int) error {
	const entry = 24
	if s.Type != elf.SHT_RELA || int(s.Link) != table {
		return fmt.Errorf("relocations of another form than %v, with the object's symbols", elf.SHT_RELA)
	}
	b, err := inFile(code, s)
	if err != nil {
		return err
	}
	if len(b)%entry != 0 {
		return fmt.Errorf("%d bytes are no whole number of relocations", len(b))
	}
	for ; len(b) > 0; b = b[entry:] {
		info := binary.LittleEndian.Uint64(b[8:])
		x := fix{section: target, offset: binary.LittleEndian.Uint64(b), kind: uint32(info), symbol: uint32(info >> 32),
			addend: int64(binary.LittleEndian.Uint64(b[16:]))}
		if err := o.addFix(x); err != nil {
			return fmt.Errorf("relocation at %#x: %w", x.offset, err)
		}
	}
	return nil
}

// addFix checks a relocation, and gives its symbol what it needs.
func (o *Object) addFix(x fix) error {
	how, known := rules[o.machine][x.kind]
	if !known {
		return fmt.Errorf("its type, %d of %v, is not supported", x.kind, o.machine)
	}
	if n := uint64(len(o.sections[x.section].content)); x.offset > n || n-x.offset < how.bytes {
		return fmt.Errorf("it lies outside of section %q of %d bytes", o.sections[x.section].name, n)
	}
	if int(x.symbol) >= len(o.symbols) {
		return fmt.Errorf("symbol %d of %d", x.symbol, len(o.symbols))
	}
	s := &o.symbols[x.symbol]
	if s.unusual || s.section < 0 && !s.undefined && !s.absolute {
		return fmt.Errorf("symbol %q is of a kind that is not supported", s.name)
	}
	if s.slot < 0 && (how.table || how.call && s.undefined) {
		s.slot = len(o.got)
		o.got = append(o.got, x.symbol)
	}
	if s.stub < 0 && how.call && s.undefined {
		s.stub = len(o.stubs)
		o.stubs = append(o.stubs, x.symbol)
	}
	o.fixes = append(o.fixes, x)
	return nil
}

// Bytes of an entry of the table of addresses, and of a stub.
const (
	slotBytes = 8
	stubBytes = 16
)

// plan gives everything its place.
func (o *Object) plan(page uint64) error {
	var at uint64
	for kind := range kinds {
		at = aligned(at, page)
		o.kinds[kind].start = at
		for i := range o.sections {
			s := &o.sections[i]
			if s.kind != kind {
				continue
			}
			s.at = aligned(at, s.align)
			if at = s.at + s.size; at > largest {
				return fmt.Errorf("object file: it needs more than %d bytes of memory", uint64(largest))
			}
		}
		switch kind {
		case executable:
			o.stubsAt = aligned(at, stubBytes)
			at = o.stubsAt + stubBytes*uint64(len(o.stubs))
		case readOnly:
			o.gotAt = aligned(at, slotBytes)
			at = o.gotAt + slotBytes*uint64(len(o.got))
		}
		o.kinds[kind].end = aligned(at, page)
	}
	return nil
}

// aligned is n rounded up to a multiple of a power of two.
func aligned(n, to uint64) uint64 { return (n + to - 1) &^ (to - 1) }

// Size is how many bytes of memory the object needs.
func (o *Object) Size() uint64 { return o.kinds[kinds-1].end }

// Place writes the object into memory, zeros that will lie at base, a multiple of
// a page. external finds what the object does not define itself.
func (o *Object) Place(memory []byte, base uint64, external func(name string) (uint64, error)) error {
	if uint64(len(memory)) != o.Size() {
		return fmt.Errorf("object file: %d bytes of memory, it needs %d", len(memory), o.Size())
	}
	addresses := make([]uint64, len(o.symbols))
	for i, s := range o.symbols {
		addresses[i] = s.value
		if s.section >= 0 {
			addresses[i] += base + o.sections[s.section].at
		}
	}
	found := map[uint32]bool{}
	for _, x := range o.fixes {
		if s := o.symbols[x.symbol]; s.undefined && !found[x.symbol] {
			found[x.symbol] = true
			address, err := external(s.name)
			if err != nil && !s.weak {
				return fmt.Errorf("object file: symbol %q: %w", s.name, err)
			}
			addresses[x.symbol] = address // 0 for a weak one that is not there
		}
	}
	for _, s := range o.sections {
		copy(memory[s.at:s.at+s.size], s.content)
	}
	for i, symbol := range o.got {
		binary.LittleEndian.PutUint64(memory[o.slotAt(i):], addresses[symbol])
	}
	for i, symbol := range o.stubs {
		if err := o.writeStub(memory, base, o.stubAt(i), o.slotAt(o.symbols[symbol].slot)); err != nil {
			return err
		}
	}
	for _, x := range o.fixes {
		if err := o.apply(memory, base, x, addresses[x.symbol]); err != nil {
			return fmt.Errorf("object file: relocation at %#x of section %q: %w", x.offset, o.sections[x.section].name, err)
		}
	}
	return nil
}

func (o *Object) slotAt(i int) uint64 { return o.gotAt + slotBytes*uint64(i) }
func (o *Object) stubAt(i int) uint64 { return o.stubsAt + stubBytes*uint64(i) }

// Symbol is where something that the object defines for others lies in its
// memory, if size bytes are there.
func (o *Object) Symbol(name string, size uint64) (offset uint64, err error) {
	for _, s := range o.symbols {
		if s.name != name || !s.exported || s.section < 0 {
			continue
		}
		in := o.sections[s.section]
		if in.size-s.value < size {
			return 0, fmt.Errorf("object file: symbol %q has less than %d bytes", name, size)
		}
		return in.at + s.value, nil
	}
	return 0, fmt.Errorf("object file: it does not define %q", name)
}
