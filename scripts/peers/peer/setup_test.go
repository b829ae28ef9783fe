package peer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/system/machine"
)

func TestOnceBuildsOnceAndAgainAfterAFailure(t *testing.T) {
	s := Setup{Cache: t.TempDir(), Log: io.Discard}
	dir := s.folder("peer", "1", "-O2")
	if dir != s.folder("peer", "1", "-O2") || dir == s.folder("peer", "1-O2") || dir == s.folder("peer", "2", "-O2") {
		t.Error("a folder does not tell builds apart")
	}
	broken := errors.New("no compiler")
	calls := 0
	step := func(err error) func(io.Writer) error {
		return func(log io.Writer) error {
			calls++
			if _, err := os.Stat(filepath.Join(dir, "half")); err == nil {
				t.Error("the rest of a failed build is still there")
			}
			fmt.Fprintln(log, "compiling")
			return errors.Join(os.WriteFile(filepath.Join(dir, "half"), nil, 0o644), err)
		}
	}
	err := s.once(dir, "the peer", step(broken))
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), dir+".log") {
		t.Errorf("error %v does not say why, or where the log is", err)
	}
	for range 2 {
		if err := s.once(dir, "the peer", step(nil)); err != nil {
			t.Fatal(err)
		}
	}
	if calls != 2 {
		t.Errorf("built %d times, want once after one failure", calls)
	}
	if log, err := os.ReadFile(dir + ".log"); err != nil || !bytes.Equal(log, []byte("compiling\n")) {
		t.Errorf("log is %q, %v", log, err)
	}
}

func TestUnpack(t *testing.T) {
	dir := t.TempDir()
	if err := unpack("candle", dir); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "Cargo.toml"))
	if err != nil || !bytes.Contains(manifest, []byte(`candle-core = "=`+candleVersion+`"`)) {
		t.Errorf("Cargo.toml does not pin candle-core %s: %v", candleVersion, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "src", "main.rs")); err != nil {
		t.Error(err)
	}
	script := filepath.Join(dir, "peer.py")
	if err := unpack("llama_peer.py", script); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(script); err != nil || string(b) != strings.TrimPrefix(fingerprint("llama_peer.py"), "llama_peer.py") {
		t.Errorf("the unpacked script is not the embedded one: %v", err)
	}
}

func TestGCCMajor(t *testing.T) {
	for line, want := range map[string]int{
		"gcc (Debian 12.2.0-14+deb12u1) 12.2.0":                  12,
		"gcc (GCC) 15.1.1 20250425":                              15,
		"gcc-13 (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0":           13,
		"Apple clang version without a number that is a version": 0,
	} {
		if got := gccMajor(line); got != want {
			t.Errorf("%q: %d, want %d", line, got, want)
		}
	}
}

func TestCPUInfo(t *testing.T) {
	var m Machine
	m.processor(machine.ParseCPUInfo("processor\t: 0\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\nflags\t\t: fpu avx2 f16c avx512f avx512_vnni\n\nprocessor\t: 1\nmodel name\t: other\n"))
	if m.CPU != "AMD EPYC, family 26 model 2" || !m.has("avx512_vnni") || m.has("amx_tile") {
		t.Errorf("got %+v", m)
	}
	m = Machine{}
	m.processor(machine.ParseCPUInfo("processor\t: 0\nFeatures\t: fp asimd i8mm\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n"))
	if m.CPU != "implementer 0x41 part 0xd40" || !m.has("i8mm") {
		t.Errorf("got %+v", m)
	}
}
