//go:build linux && (amd64 || arm64)

package recorder

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/metalshim/shimtest"
)

// childEnv names the scenario that this test program plays when it is started
// again with a recorder and the strict stand-in loaded before it.
const childEnv = "RECORDER_TEST_SCENARIO"

var scenarios = map[string]func(*program){}

func init() {
	runChild = func() bool {
		play := scenarios[os.Getenv(childEnv)]
		if play == nil {
			return false
		}
		path := os.Args[len(os.Args)-1]
		runtime.LockOSThread()
		p := &program{dev: &shimtest.Device{}}
		var err error
		if p.s, err = standin.Serve(path, p.dev, standin.Options{}); err != nil {
			panic(err)
		}
		play(p)
		if err := p.s.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if n := p.dev.Live(); n != (metalshim.Counts{}) {
			fmt.Fprintf(os.Stderr, "alive: %+v\n", n)
			os.Exit(1)
		}
		if err := json.NewEncoder(os.Stdout).Encode(p.expected); err != nil {
			panic(err)
		}
		return true
	}
}

// program is a program that uses Metal by words, as C does, on the strict
// stand-in, and says what a recorder should have seen.
type program struct {
	s        *standin.Server
	dev      *shimtest.Device
	expected []Event
}

// expect is an event that the last calls must have left. Times are 0.
func (p *program) expect(kind Kind, object uintptr, words ...uint64) {
	e := Event{Kind: kind, Object: uint64(object)}
	for i, to := range []*uint64{&e.A, &e.B, &e.C, &e.D} {
		if i < len(words) {
			*to = words[i]
		}
	}
	p.expected = append(p.expected, e)
}

func (p *program) says(text string) { p.expected[len(p.expected)-1].Text = text }

func (p *program) call(name string, args ...uintptr) uintptr {
	f, err := purego.Dlsym(purego.RTLD_DEFAULT, name)
	if err != nil {
		panic(err)
	}
	r, _, _ := purego.SyscallN(f, args...)
	return r
}

func (p *program) sel(name string) uintptr { return p.call("sel_registerName", cString(name)) }

func (p *program) send(o uintptr, selector string, args ...uintptr) uintptr {
	return p.call("objc_msgSend", append([]uintptr{o, p.sel(selector)}, args...)...)
}

func (p *program) class(name string) uintptr { return p.call("objc_getClass", cString(name)) }
func (p *program) new(class string) uintptr  { return p.send(p.class(class), "new") }

func (p *program) release(objects ...uintptr) {
	for _, o := range objects {
		p.send(o, "release")
	}
}

func (p *program) pooled(f func()) {
	pool := p.call("objc_autoreleasePoolPush")
	f()
	p.call("objc_autoreleasePoolPop", pool)
}

// str is an NSString with +1.
func (p *program) str(s string) uintptr {
	return p.send(p.send(p.class("NSString"), "alloc"), "initWithBytes:length:encoding:", cString(s), uintptr(len(s)), 4)
}

// sizes sends two MTLSize by value behind other words.
func (p *program) sizes(o uintptr, selector string, grid, group [3]uintptr) {
	if runtime.GOARCH == "arm64" {
		p.send(o, selector, address(&grid), address(&group))
		return
	}
	p.send(o, selector, 0, 0, 0, 0, grid[0], grid[1], grid[2], group[0], group[1], group[2])
}

// kept keeps what C is given the address of.
var kept []any

func address[T any](p *T) uintptr {
	kept = append(kept, p)
	return uintptr(unsafe.Pointer(p))
}

func cString(s string) uintptr {
	b := append([]byte(s), 0)
	kept = append(kept, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

// standIn is the path of the strict stand-in.
func standIn(t testing.TB) string {
	t.Helper()
	path, err := standin.Build(t.Context())
	if errors.Is(err, standin.ErrCompiler) {
		t.Skipf("SKIP: needs a C compiler: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// play runs a scenario, recorded, and returns what it says that it did and all
// that was recorded.
func play(t testing.TB, scenario string, env ...string) (did, recorded []Event) {
	t.Helper()
	cmd, folder, _ := playing(t, scenario, env...)
	if err := json.Unmarshal([]byte(ran(t, cmd)), &did); err != nil {
		t.Fatal(err)
	}
	return did, rest(t, folder)
}

func playing(t testing.TB, scenario string, env ...string) (*exec.Cmd, *Folder, string) {
	t.Helper()
	path := standIn(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd, folder, dir := command(t, exe, path)
	cmd.Env = append(append(cmd.Env, preloaded(built(t)+":"+path), childEnv+"="+scenario), env...)
	return cmd, folder, dir
}

// timeless is an event without what differs from run to run.
func timeless(e Event) Event {
	e.Time, e.Thread = 0, 0
	switch e.Kind {
	case Device, Buffer, Heap, Commands:
		e.D = 0
	case Commit, EncoderEnd:
		e.A = 0
	case Scheduled, Completed:
		e.A, e.B = 0, 0
	case WaitEnd:
		e.B = 0
	}
	return e
}

// compare says where the recorded events differ from what a program did. The
// first, of the process, is not compared; those in any are at any place.
func compare(t *testing.T, did, recorded []Event, anyPlace ...Kind) {
	t.Helper()
	sorted := func(all []Event) string {
		var rows, loose []string
		for _, e := range all {
			e = timeless(e)
			row := fmt.Sprintf("%v %+v", e.Kind, e)
			at := &rows
			for _, k := range anyPlace {
				if e.Kind == k {
					at = &loose
				}
			}
			*at = append(*at, row)
		}
		slices.Sort(loose)
		return strings.Join(append(rows, loose...), "\n")
	}
	if len(recorded) == 0 || recorded[0].Kind != Process {
		t.Fatalf("%d events", len(recorded))
	}
	got, want := strings.Split(sorted(recorded[1:]), "\n"), strings.Split(sorted(did), "\n")
	for i := range max(len(got), len(want)) {
		a, b := "nothing", "nothing"
		if i < len(got) {
			a = got[i]
		}
		if i < len(want) {
			b = want[i]
		}
		if a != b {
			t.Fatalf("event %d:\n got %s\nwant %s", i, a, b)
		}
	}
}

// text is what an NSString holds.
func (p *program) text(o uintptr) string {
	n := p.send(o, "lengthOfBytesUsingEncoding:", 4)
	at := p.send(o, "UTF8String")
	return string(unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), n))
}

// nowhere is the path of a file that cannot be, autoreleased.
func (p *program) nowhere() uintptr {
	return p.send(p.class("NSString"), "stringWithUTF8String:", cString("/nowhere/at/all"))
}

// counted is how often a block was copied and given back.
type counted struct{ copies, disposals int }

// blockLayout and blockDescriptor are a block's memory (LLVM, Block
// Implementation Specification).
type blockLayout struct {
	isa        uintptr
	flags, _   int32
	invoke     uintptr
	descriptor *blockDescriptor
	held       uint64 // what it captured
}

type blockDescriptor struct {
	_, size       uint64 // reserved first
	copy, dispose uintptr
}

// block is a block on the program's stack that is called with an object and one
// more word. Its memory is overwritten by spoil, as a stack is. What it has
// captured must be there when it is called.
func (p *program) block(f func(object, more uintptr)) (block uintptr, n *counted, spoil func()) {
	isa, err := purego.Dlsym(purego.RTLD_DEFAULT, "_NSConcreteStackBlock")
	if err != nil {
		panic(err)
	}
	n = &counted{}
	const captured = 0xfeedface
	b := &blockLayout{isa: isa, flags: 1 << 25, held: captured, descriptor: &blockDescriptor{size: uint64(unsafe.Sizeof(blockLayout{}))}}
	b.invoke = purego.NewCallback(func(b *blockLayout, object, more uintptr) {
		if b.held != captured {
			panic("the block that is called does not hold what it captured")
		}
		f(object, more)
	})
	b.descriptor.copy = purego.NewCallback(func(_, _ uintptr) { n.copies++ })
	b.descriptor.dispose = purego.NewCallback(func(_ uintptr) { n.disposals++ })
	return address(b), n, func() { *b = blockLayout{} }
}
