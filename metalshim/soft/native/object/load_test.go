//go:build linux && (amd64 || arm64)

package object

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// targets are clang's names of the processors, by Go's.
var targets = map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}

// compiled is testdata/all.c as an object for a processor, or the test skips.
func compiled(t testing.TB, arch string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/all.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{os.Getenv("INTROGEN_CLANG"), "clang-19", "clang"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		cmd := exec.Command(path, "--target="+targets[arch], "-x", "c", "-O2", "-fPIC", "-fvisibility=hidden",
			"-fno-stack-protector", "-fno-math-errno", "-nostdinc", "-c", "-o", "-", "-")
		cmd.Stdin = bytes.NewReader(text)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Skipf("SKIP: needs a clang for %s: %v\n%s", arch, err, errs.String())
		}
		return out
	}
	t.Skip("SKIP: needs clang 19 as $INTROGEN_CLANG, clang-19 or clang")
	return nil
}

// inProcess finds what the process has.
func inProcess(name string) (uint64, error) {
	address, err := purego.Dlsym(purego.RTLD_DEFAULT, name)
	return uint64(address), err
}

func libm(t testing.TB) {
	t.Helper()
	if _, err := purego.Dlopen("libm.so.6", purego.RTLD_NOW|purego.RTLD_GLOBAL); err != nil {
		t.Skipf("SKIP: needs the C library's libm.so.6: %v", err)
	}
}

// calls are functions of all.c in an order that matters, with arguments and what C
// says that they return.
var calls = []struct {
	name string
	args []uintptr
	want int32
}{
	{"count", nil, 41}, {"count", nil, 42}, {"first", []uintptr{4}, 216}, {"last", []uintptr{9}, 20},
	{"cosine", []uintptr{0}, 1000}, {"cosine", []uintptr{3}, int32(1000 * float32(math.Cos(3)))}, {"copied", []uintptr{4}, 9}, {"copied", []uintptr{8}, 31},
	{"letter", []uintptr{0, 2}, 'n'}, {"letter", []uintptr{2, 1}, 'w'}, {"half", []uintptr{2}, 5},
	{"sum", []uintptr{0}, -5}, {"sum", []uintptr{0}, -4}, {"sum", []uintptr{2}, -7}, {"weak", nil, 0},
	{"picked", []uintptr{0, 10}, 22}, {"picked", []uintptr{1, 10}, 20}, {"picked", []uintptr{2, 0}, 1000},
	{"cases", []uintptr{0}, 6}, {"cases", []uintptr{2}, 42}, {"cases", []uintptr{3}, 1000}, {"cases", []uintptr{4}, 20}, {"cases", []uintptr{6}, 204}, {"cases", []uintptr{7}, -1},
	{"lanes", []uintptr{5}, 150},
}

func call(address uintptr, args []uintptr) int32 {
	r, _, _ := purego.SyscallN(address, args...)
	return int32(r)
}

// TestRuns runs every kind of relocation, against what C says.
func TestRuns(t *testing.T) {
	libm(t)
	image, err := Load(compiled(t, runtime.GOARCH), inProcess)
	if err != nil {
		t.Fatal(err)
	}
	defer image.Unload()
	for _, c := range calls {
		at, err := image.Symbol(c.name, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := call(at, c.args); got != c.want {
			t.Errorf("%s%v = %d, want %d", c.name, c.args, got, c.want)
		}
	}
	at, err := image.Symbol("answer", 8)
	if err != nil || **(**uint64)(unsafe.Pointer(&at)) != 0x1122334455667788 {
		t.Errorf("the constant at %#x (%v) is another", at, err)
	}
	if _, err := image.Symbol("answer", 1<<20); err == nil {
		t.Error("a constant of a megabyte is there")
	}
	if _, err := image.Symbol("cosf", 1); err == nil {
		t.Error("it defines cosf")
	}
}

// TestAsLinked: the linker's shared object gives the same, and its code is the
// same but for what was filled in.
func TestAsLinked(t *testing.T) {
	libm(t)
	var lld string
	for _, name := range []string{"ld.lld-19", "ld.lld"} {
		if path, err := exec.LookPath(name); err == nil {
			lld = path
			break
		}
	}
	if lld == "" {
		t.Skip("SKIP: needs ld.lld")
	}
	code := compiled(t, runtime.GOARCH)
	dir := t.TempDir()
	in, shared := filepath.Join(dir, "all.o"), filepath.Join(dir, "all.so")
	if err := os.WriteFile(in, code, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(lld, "-shared", "--no-relax", "-o", shared, in).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	o, err := Parse(code, 4096)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(shared)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	memory := make([]byte, o.Size())
	if err := o.Place(memory, 1<<32, func(string) (uint64, error) { return 1 << 20, nil }); err != nil {
		t.Fatal(err)
	}
	text := o.sections[slices.IndexFunc(o.sections, func(s section) bool { return s.name == ".text" })]
	got := memory[text.at : text.at+text.size]
	for _, x := range o.fixes {
		if o.sections[x.section].name == ".text" {
			for _, b := range [][]byte{got, want} {
				binary.LittleEndian.PutUint32(b[x.offset:], 0)
			}
		}
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the code differs from the linker's: %d bytes, %d", len(got), len(want))
	}
	handle, err := purego.Dlopen(shared, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		at, err := purego.Dlsym(handle, c.name)
		if err != nil {
			t.Fatal(err)
		}
		if got := call(at, c.args); got != c.want {
			t.Errorf("linked %s%v = %d, want %d", c.name, c.args, got, c.want)
		}
	}
}

// TestAccess: nothing can be written and run, in the system's own words.
func TestAccess(t *testing.T) {
	libm(t)
	image, err := Load(compiled(t, runtime.GOARCH), inProcess)
	if err != nil {
		t.Fatal(err)
	}
	defer image.Unload()
	for name, want := range map[string]string{"first": "r-xp", "answer": "r--p", "counter": "rw-p"} {
		at, err := image.Symbol(name, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := access(t, uint64(at)); got != want {
			t.Errorf("%s lies in memory of access %s, want %s", name, got, want)
		}
	}
}

// access is what /proc/self/maps says of an address.
func access(t *testing.T, address uint64) string {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		var start, end uint64
		var how string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &start, &end, &how); err == nil && start <= address && address < end {
			return how
		}
	}
	return "none"
}
