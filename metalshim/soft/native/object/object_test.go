package object

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// kept is an object of testdata.
func kept(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// anywhere finds everything.
func anywhere(string) (uint64, error) { return 0x7f00_1234_5678, nil }

// TestPut: addresses as instructions hold them, from the encodings in Arm's and
// AMD's manuals.
func TestPut(t *testing.T) {
	const place = 0x1000_0000
	for _, c := range []struct {
		name   string
		r      rule
		before uint32
		to     uint64
		want   uint32
	}{
		{"bl +4", rule{form: branch26}, 0x94000000, place + 4, 0x94000001},
		{"bl -4", rule{form: branch26}, 0x94000000, place - 4, 0x97ffffff},
		{"b +128 MB - 4", rule{form: branch26}, 0x14000000, place + 1<<27 - 4, 0x15ffffff},
		{"adrp x0, same page", rule{form: page21}, 0x90000000, place + 0xfff, 0x90000000},
		{"adrp x0, next page", rule{form: page21}, 0x90000000, place + 0x1000, 0xb0000000},
		{"adrp x0, page before", rule{form: page21}, 0x90000000, place - 1, 0xf0ffffe0},
		{"add x0, x0, #0x123", rule{form: low12}, 0x91000000, 0x5123, 0x91048c00},
		{"ldrb w0, [x0, #0xfff]", rule{form: low12}, 0x39400000, 0x5fff, 0x397ffc00},
		{"ldr x0, [x0, #8]", rule{form: low12, scale: 3}, 0xf9400000, 0x5008, 0xf9400400},
		{"ldr q0, [x0, #16]", rule{form: low12, scale: 4}, 0x3dc00000, 0x5010, 0x3dc00400},
		{"rel32 -4", rule{form: relative32}, 0, place - 4, 0xfffffffc},
	} {
		b := binary.LittleEndian.AppendUint32(nil, c.before)
		if err := put(b, c.r, place, c.to); err != nil || binary.LittleEndian.Uint32(b) != c.want {
			t.Errorf("%s: %#x (%v), want %#x", c.name, b, err, c.want)
		}
	}
	for _, c := range []struct {
		name string
		r    rule
		to   uint64
	}{
		{"bl too far", rule{form: branch26}, place + 1<<27},
		{"bl between", rule{form: branch26}, place + 2},
		{"adrp too far", rule{form: page21}, place + 1<<33},
		{"ldr x0 unaligned", rule{form: low12, scale: 3}, 0x5004},
		{"rel32 too far", rule{form: relative32}, place + 1<<31},
	} {
		if err := put(make([]byte, 8), c.r, place, c.to); err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
}

// TestRefused: what a loader must not take is an error that says so.
func TestRefused(t *testing.T) {
	for _, name := range []string{"all.amd64.o", "all.arm64.o"} {
		good := kept(t, name)
		o, err := Parse(good, 4096)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Place(make([]byte, o.Size()), 1<<32, func(string) (uint64, error) { return 0, errors.New("not here") }); err == nil || !strings.Contains(err.Error(), "not here") {
			t.Errorf("%s: a function that nobody has: %v", name, err)
		}
		if err := o.Place(nil, 1<<32, anywhere); err == nil {
			t.Errorf("%s: no memory is enough", name)
		}
		for _, c := range []struct {
			want string
			harm func(b []byte)
		}{
			{"object file: ", func(b []byte) { b[0] = 0 }},
			{"want one that is relocatable", func(b []byte) { b[16] = byte(elf.ET_DYN) }},
			{"want x86-64 or arm64", func(b []byte) { b[18] = byte(elf.EM_386) }},
			{"is not supported", func(b []byte) { binary.LittleEndian.PutUint32(b[relocations(t, b)+8:], 200) }},
			{"it lies outside of section", func(b []byte) { binary.LittleEndian.PutUint64(b[relocations(t, b):], 1<<40) }},
			{"symbol 16777215 of", func(b []byte) { binary.LittleEndian.PutUint32(b[relocations(t, b)+12:], 1<<24-1) }},
			{"writable and executable", func(b []byte) { b[header(t, b, ".text")+8] |= byte(elf.SHF_WRITE) }},
			{"want a power of two", func(b []byte) { b[header(t, b, ".text")+48] = 3 }},
			{"want a power of two", func(b []byte) { b[header(t, b, ".text")+50] = 1 }},
			{"at most", func(b []byte) { b[header(t, b, ".bss")+32+5] = 1 }},
			{"is not supported", func(b []byte) { b[header(t, b, ".bss")+4] = byte(elf.SHT_INIT_ARRAY) }},
			{"not supported", func(b []byte) { b[header(t, b, ".bss")+9] |= byte(elf.SHF_TLS >> 8) }},
		} {
			b := slices.Clone(good)
			c.harm(b)
			if _, err := Parse(b, 4096); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want one of %q", name, err, c.want)
			}
		}
		for n := range len(good) {
			if _, err := Parse(good[:n], 4096); err == nil {
				t.Fatalf("%s: the first %d of %d bytes are taken", name, n, len(good))
			}
		}
	}
}

// header is where a section's header stands in an object.
func header(t *testing.T, b []byte, name string) int {
	t.Helper()
	f, err := elf.NewFile(strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range f.Sections {
		if s.Name == name {
			return int(binary.LittleEndian.Uint64(b[40:])) + 64*i
		}
	}
	t.Fatalf("no section %s", name)
	return 0
}

// relocations is where those of the code stand.
func relocations(t *testing.T, b []byte) int {
	t.Helper()
	return int(binary.LittleEndian.Uint64(b[header(t, b, ".rela.text")+24:]))
}

// FuzzParse: whatever the bytes, nothing crashes, nothing takes memory without
// bound, and what is placed lies in its memory.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"all.amd64.o", "all.arm64.o"} {
		f.Add(kept(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := Parse(b, 4096)
		if err != nil {
			return
		}
		if o.Size() > largest+kinds*4096+uint64(len(b)) {
			t.Fatalf("%d bytes of memory", o.Size())
		}
		if o.Size() > 1<<20 {
			return
		}
		memory := make([]byte, o.Size())
		if err := o.Place(memory, 1<<32, anywhere); err != nil {
			return
		}
		for _, s := range o.symbols {
			if at, err := o.Symbol(s.name, 8); err == nil && at+8 > o.Size() {
				t.Fatalf("symbol %q lies at %d of %d", s.name, at, o.Size())
			}
		}
	})
}
