package object

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// rule is how a relocation is applied. S is the symbol's address, A the addend, P
// the place that is written, and the result S + A − P, S + A, or that of pages.
type rule struct {
	bytes uint64 // that must be there
	form  form
	// table: S is not the symbol, but its entry in the table of addresses. call: it
	// is a stub where the object does not define the symbol, which may lie too far.
	table, call bool
	scale       uint // arm64: what a load or store of 1<<scale bytes leaves out of its offset
}

// form is what is written where.
type form int

const (
	absolute64 form = iota
	relative64
	relative32
	page21   // arm64: adrp
	low12    // arm64: the low bits of an address, in add, ldr or str
	branch26 // arm64: b and bl
)

// rules are the relocations that clang emits.
var rules = map[elf.Machine]map[uint32]rule{
	elf.EM_X86_64: {
		uint32(elf.R_X86_64_64):            {bytes: 8, form: absolute64},
		uint32(elf.R_X86_64_PC64):          {bytes: 8, form: relative64},
		uint32(elf.R_X86_64_PC32):          {bytes: 4, form: relative32},
		uint32(elf.R_X86_64_PLT32):         {bytes: 4, form: relative32, call: true},
		uint32(elf.R_X86_64_GOTPCREL):      {bytes: 4, form: relative32, table: true},
		uint32(elf.R_X86_64_GOTPCRELX):     {bytes: 4, form: relative32, table: true},
		uint32(elf.R_X86_64_REX_GOTPCRELX): {bytes: 4, form: relative32, table: true},
	},
	elf.EM_AARCH64: {
		uint32(elf.R_AARCH64_ABS64):              {bytes: 8, form: absolute64},
		uint32(elf.R_AARCH64_PREL64):             {bytes: 8, form: relative64},
		uint32(elf.R_AARCH64_PREL32):             {bytes: 4, form: relative32},
		uint32(elf.R_AARCH64_ADR_PREL_PG_HI21):   {bytes: 4, form: page21},
		uint32(elf.R_AARCH64_ADD_ABS_LO12_NC):    {bytes: 4, form: low12},
		uint32(elf.R_AARCH64_LDST8_ABS_LO12_NC):  {bytes: 4, form: low12},
		uint32(elf.R_AARCH64_LDST16_ABS_LO12_NC): {bytes: 4, form: low12, scale: 1},
		uint32(elf.R_AARCH64_LDST32_ABS_LO12_NC): {bytes: 4, form: low12, scale: 2},
		uint32(elf.R_AARCH64_LDST64_ABS_LO12_NC): {bytes: 4, form: low12, scale: 3},
		// debug/elf has no name for R_AARCH64_LDST128_ABS_LO12_NC.
		299:                                    {bytes: 4, form: low12, scale: 4},
		uint32(elf.R_AARCH64_CALL26):           {bytes: 4, form: branch26, call: true},
		uint32(elf.R_AARCH64_JUMP26):           {bytes: 4, form: branch26, call: true},
		uint32(elf.R_AARCH64_ADR_GOT_PAGE):     {bytes: 4, form: page21, table: true},
		uint32(elf.R_AARCH64_LD64_GOT_LO12_NC): {bytes: 4, form: low12, scale: 3, table: true},
	},
}

// apply writes what a relocation asks for; address is its symbol's.
func (o *Object) apply(memory []byte, base uint64, x fix, address uint64) error {
	how, s := rules[o.machine][x.kind], o.symbols[x.symbol]
	switch {
	case how.table:
		address = base + o.slotAt(s.slot)
	case how.call && s.stub >= 0:
		address = base + o.stubAt(s.stub)
	}
	at := o.sections[x.section].at + x.offset
	return put(memory[at:], how, base+at, address+uint64(x.addend))
}

// put writes the address to, as a rule says, at the beginning of b, which lies at
// place.
func put(b []byte, how rule, place, to uint64) error {
	distance := int64(to - place)
	switch how.form {
	case absolute64:
		binary.LittleEndian.PutUint64(b, to)
	case relative64:
		binary.LittleEndian.PutUint64(b, uint64(distance))
	case relative32:
		if distance != int64(int32(distance)) {
			return tooFar(distance)
		}
		binary.LittleEndian.PutUint32(b, uint32(distance))
	case page21:
		const page = 4096 // of adrp, whatever the system's is
		pages := (int64(to&^(page-1)) - int64(place&^(page-1))) / page
		if pages < -1<<20 || pages >= 1<<20 {
			return tooFar(distance)
		}
		join(b, uint32(pages)&3<<29|uint32(pages)>>2&0x7ffff<<5)
	case low12:
		low := uint32(to & 0xfff)
		if low&(1<<how.scale-1) != 0 {
			return fmt.Errorf("address %#x is no multiple of %d", to, 1<<how.scale)
		}
		join(b, low>>how.scale<<10)
	case branch26:
		if distance&3 != 0 {
			return fmt.Errorf("a branch to %#x, which is no instruction's address", to)
		}
		if distance < -1<<27 || distance >= 1<<27 {
			return tooFar(distance)
		}
		join(b, uint32(distance>>2)&0x3ffffff)
	}
	return nil
}

// join puts bits into an instruction of arm64 that has zeros there: the addend
// stands in the relocation.
func join(b []byte, bits uint32) {
	binary.LittleEndian.PutUint32(b, binary.LittleEndian.Uint32(b)|bits)
}

func tooFar(distance int64) error {
	return fmt.Errorf("what it names is %d bytes away, farther than the instruction reaches", distance)
}

// writeStub writes code that jumps to what the table of addresses holds at slot.
func (o *Object) writeStub(memory []byte, base, at, slot uint64) error {
	b := memory[at : at+stubBytes]
	if o.machine == elf.EM_X86_64 {
		copy(b, []byte{0xff, 0x25}) // jmp *slot(%rip)
		return put(b[2:], rule{form: relative32}, base+at+6, base+slot)
	}
	for i, word := range []uint32{
		0x90000010, // adrp x16, slot
		0xf9400210, // ldr x16, [x16, :lo12:slot]
		0xd61f0200, // br x16
		0xd4200000, // brk #0
	} {
		binary.LittleEndian.PutUint32(b[4*i:], word)
	}
	if err := put(b, rule{form: page21}, base+at, base+slot); err != nil {
		return err
	}
	return put(b[4:], rule{form: low12, scale: 3}, base+at+4, base+slot)
}
