package executable

import (
	"bytes"
	"debug/macho"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const cpuARM64 = uint32(macho.CpuArm64)

// mach makes a program of macOS without code, with a signature of those flags and
// that entitlement where either is there (mach-o/loader.h; xnu, cs_blobs.h).
func mach(cpu, kind, flags uint32, entitlement string) []byte {
	var signature bytes.Buffer
	if flags != 0 || entitlement != "" {
		list := "<plist><dict><key>" + entitlement + "</key>\n<true/></dict></plist>"
		for _, w := range []any{
			uint32(magicSignature), uint32(28 + 16 + 8 + len(list)), uint32(2),
			uint32(0), uint32(28), uint32(5), uint32(28 + 16),
			uint32(magicDirectory), uint32(16), uint32(0x20400), flags,
			uint32(magicEntitlements), uint32(8 + len(list)),
		} {
			_ = binary.Write(&signature, binary.BigEndian, w)
		}
		signature.WriteString(list)
	}
	var b bytes.Buffer
	const segment, command = 72, 16
	at := uint32(32 + segment + command)
	_ = binary.Write(&b, binary.LittleEndian, []uint32{macho.Magic64, cpu, 0, kind, 2, segment + command, 0, 0})
	_ = binary.Write(&b, binary.LittleEndian, macho.Segment64{Cmd: macho.LoadCmdSegment64, Len: segment, Name: [16]byte{'_', '_', 'L', 'I', 'N', 'K', 'E', 'D', 'I', 'T'},
		Offset: uint64(at), Filesz: uint64(signature.Len())})
	name := uint32(loadSignature)
	if signature.Len() == 0 {
		name = 0x2b // another command of this size
	}
	_ = binary.Write(&b, binary.LittleEndian, []uint32{name, command, at, uint32(signature.Len())})
	b.Write(signature.Bytes())
	return b.Bytes()
}

// fat puts programs for several processors into one file.
func fat(programs ...[]byte) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.BigEndian, []uint32{macho.MagicFat, uint32(len(programs))})
	at := uint32(4096)
	for _, p := range programs {
		_ = binary.Write(&b, binary.BigEndian, []uint32{binary.LittleEndian.Uint32(p[4:]), 0, at, uint32(len(p)), 12})
		at += 4096
	}
	for i, p := range programs {
		b.Write(make([]byte, 4096*(i+1)-b.Len()))
		b.Write(p)
	}
	return b.Bytes()
}

func TestMachO(t *testing.T) {
	mac := system{"darwin", "arm64"}
	const amd64 = uint32(macho.CpuAmd64)
	broken := mach(cpuARM64, 2, hardened, mayLoad)
	binary.BigEndian.PutUint32(broken[32+72+16+8:], 1<<30) // so many parts
	for _, c := range []struct {
		name string
		file []byte
		want string // of its error; "" where it is taken
	}{
		{"unsigned", mach(cpuARM64, 2, 0, ""), ""},
		{"signed by the linker", mach(cpuARM64, 2, 0x20002, ""), ""},
		{"hardened", mach(cpuARM64, 2, hardened, ""), "without " + mayInsert + " and " + mayLoad},
		{"hardened, half entitled", mach(cpuARM64, 2, hardened, mayInsert), "without " + mayLoad},
		{"restricted", mach(cpuARM64, 2, restricted, ""), "without " + mayInsert},
		{"of Intel", mach(amd64, 2, 0, ""), ""},
		{"of PowerPC", mach(uint32(macho.CpuPpc), 2, 0, ""), "it is a program for CpuPpc"},
		{"a library", mach(cpuARM64, 6, 0, ""), "it is a library"},
		{"of two, the hardened one second", fat(mach(amd64, 2, 0, ""), mach(cpuARM64, 2, hardened, "")), "hardened runtime"},
		{"of two, the hardened one not taken", fat(mach(amd64, 2, hardened, ""), mach(cpuARM64, 2, 0, "")), ""},
		{"a broken signature", broken, "its signature is damaged: "},
		{"cut off", mach(cpuARM64, 2, 0, "")[:50], "it is damaged"},
	} {
		p, err := mac.find(put(t, "p", 0o755, c.file))
		switch {
		case c.want == "" && (err != nil || p.Image != p.Path):
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := os.Stat("/usr/bin/env"); err != nil {
		t.Skip("SKIP: needs /usr/bin/env")
	}
	_, err := mac.find("/usr/bin/env")
	if err == nil || !strings.Contains(err.Error(), "macOS protects what lies in /usr and loads no recorder into it; give a program of your own") {
		t.Errorf("a protected program: %v", err)
	}
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/usr/bin/env python3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := mac.find(script); err == nil || !strings.Contains(err.Error(), "introgen record -- INTERPRETER "+script) {
		t.Errorf("a script: %v", err)
	}
}
