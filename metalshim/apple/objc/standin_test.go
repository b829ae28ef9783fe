package objc

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/metalshim/shimtest"
)

// recorder is a device whose facts are unmistakable and that notes the sizes
// of dispatches.
type recorder struct {
	shimtest.Device
	mu    sync.Mutex
	sizes []string
}

func (r *recorder) Info() metalshim.Info {
	i := r.Device.Info()
	i.Name, i.RegistryID, i.UnifiedMemory = "Grün\u2028GPU", 0x1122334455667788, true
	return i
}

func (r *recorder) NewQueue() (metalshim.Queue, error) {
	q, err := r.Device.NewQueue()
	return recordedQueue{q, r}, err
}

type recordedQueue struct {
	metalshim.Queue
	r *recorder
}

func (q recordedQueue) NewCommandBuffer() (metalshim.CommandBuffer, error) {
	c, err := q.Queue.NewCommandBuffer()
	return recordedCommands{c, q.r}, err
}

type recordedCommands struct {
	metalshim.CommandBuffer
	r *recorder
}

func (c recordedCommands) NewEncoder(t metalshim.DispatchType) (metalshim.Encoder, error) {
	e, err := c.CommandBuffer.NewEncoder(t)
	return recordedEncoder{e, c.r}, err
}

type recordedEncoder struct {
	metalshim.Encoder
	r *recorder
}

func (e recordedEncoder) DispatchThreads(grid, group metalshim.Size) error {
	e.r.mu.Lock()
	e.r.sizes = append(e.r.sizes, fmt.Sprint(grid, group))
	e.r.mu.Unlock()
	return e.Encoder.DispatchThreads(grid, group)
}

// table are the messages of these tests.
type table struct {
	Name      Message[func(ID, SEL) ID]                              `objc:"MTLDevice - name @@:"`
	Registry  Message[func(ID, SEL) uint64]                          `objc:"MTLDevice - registryID Q@:"`
	Unified   Message[func(ID, SEL) bool]                            `objc:"MTLDevice - hasUnifiedMemory B@:"`
	LowPower  Message[func(ID, SEL) bool]                            `objc:"MTLDevice - isLowPower B@:"`
	Largest   Message[func(ID, SEL) Size]                            `objc:"MTLDevice - maxThreadsPerThreadgroup {?=QQQ}@:"`
	Library   Message[func(ID, SEL, ID, ID, *ID) ID]                 `objc:"MTLDevice - newLibraryWithSource:options:error: @@:@@^@"`
	Function  Message[func(ID, SEL, ID) ID]                          `objc:"MTLLibrary - newFunctionWithName: @@:@"`
	Pipeline  Message[func(ID, SEL, ID, *ID) ID]                     `objc:"MTLDevice - newComputePipelineStateWithFunction:error: @@:@^@"`
	Queue     Message[func(ID, SEL) ID]                              `objc:"MTLDevice - newCommandQueue @@:"`
	Commands  Message[func(ID, SEL) ID]                              `objc:"MTLCommandQueue - commandBuffer @@:"`
	Encoder   Message[func(ID, SEL, uint64) ID]                      `objc:"MTLCommandBuffer - computeCommandEncoderWithDispatchType: @@:Q"`
	Set       Fast[func(ID, SEL, ID)]                                `objc:"MTLComputeCommandEncoder - setComputePipelineState: v@:@"`
	Bytes     Message[func(ID, SEL, unsafe.Pointer, uint64, uint64)] `objc:"MTLComputeCommandEncoder - setBytes:length:atIndex: v@:^vQQ"`
	Threads   Message[func(ID, SEL, Size, Size)]                     `objc:"MTLComputeCommandEncoder - dispatchThreads:threadsPerThreadgroup: v@:{?=QQQ}{?=QQQ}"`
	End       Fast[func(ID, SEL)]                                    `objc:"MTLCommandEncoder - endEncoding v@:"`
	Completed Message[func(ID, SEL, Block)]                          `objc:"MTLCommandBuffer - addCompletedHandler: v@:@?"`
	Commit    Fast[func(ID, SEL)]                                    `objc:"MTLCommandBuffer - commit v@:"`
	Wait      Fast[func(ID, SEL)]                                    `objc:"MTLCommandBuffer - waitUntilCompleted v@:"`
	Start     Message[func(ID, SEL) float64]                         `objc:"MTLCommandBuffer - GPUStartTime d@:"`
	Process   Message[func(ID, SEL) ID]                              `objc:"NSProcessInfo + processInfo @@:"`
	System    Message[func(ID, SEL) Version]                         `objc:"NSProcessInfo - operatingSystemVersion {?=qqq}@:"`
}

// world is a runtime over the stand-in.
type world struct {
	*Runtime
	m   table
	r   *recorder
	dev ID
}

func newWorld(t testing.TB, o standin.Options) *world {
	t.Helper()
	path, err := standin.Build(t.Context())
	if errors.Is(err, standin.ErrCompiler) || errors.Is(err, standin.ErrSystem) {
		t.Skipf("SKIP: needs the stand-in for Apple's libraries: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	w := &world{r: &recorder{}}
	s, err := standin.Serve(path, w.r, o)
	if err != nil {
		t.Fatal(err)
	}
	if w.Runtime, err = Load(Libraries{Runtime: path, Foundation: path, Metal: path}); err != nil {
		t.Fatal(err)
	}
	if err := Bind(w.Runtime, &w.m); err != nil {
		t.Fatal(err)
	}
	w.dev = w.CreateSystemDefaultDevice()
	t.Cleanup(func() {
		w.Release(w.dev)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func TestStrings(t *testing.T) {
	w := newWorld(t, standin.Options{})
	defer w.Push().Pop()
	for _, s := range []string{"", "a", "é\u2028漢🜁", "nul\x00inside", strings.Repeat("long ", 20<<10)} {
		o, err := w.NewString(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.String(o); got != s {
			t.Errorf("%.40q came back as %.40q", s, got)
		}
		w.Release(o)
	}
	if _, err := w.NewString("\xc3("); err == nil {
		t.Error("what is not UTF-8 is taken")
	}
	if w.String(0) != "" || w.Count(0) != 0 {
		t.Error("nil is something")
	}
	one, err1 := w.NewString("one")
	two, err2 := w.NewString("two")
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if got := w.Strings(w.Array(one, two)); fmt.Sprint(got) != "[one two]" {
		t.Errorf("%v", got)
	}
	w.Release(one)
	w.Release(two)
	dict, err := w.NewDictionary(map[string]string{"K": "V", "L": ""})
	if err != nil {
		t.Fatal(err)
	}
	w.Release(dict)
	if _, err := w.NewDictionary(map[string]string{"K": "\xff"}); err == nil {
		t.Error("a dictionary of what is not UTF-8 is made")
	}
}

// Each kind of result: words of 64 bits, BOOLs with foreign bits above them,
// structs of 24 bytes, doubles, objects.
func TestResults(t *testing.T) {
	w := newWorld(t, standin.Options{Version: [3]int64{14, 5, 1}})
	defer w.Push().Pop()
	if got := w.m.Registry.Send(w.dev, w.m.Registry.SEL); got != 0x1122334455667788 {
		t.Errorf("registryID %#x", got)
	}
	if u, l := w.m.Unified.Send(w.dev, w.m.Unified.SEL), w.m.LowPower.Send(w.dev, w.m.LowPower.SEL); !u || l {
		t.Errorf("unified %v, low power %v", u, l)
	}
	if got := w.m.Largest.Send(w.dev, w.m.Largest.SEL); got.Width != 1024 || got.Height == 0 || got.Depth == 0 {
		t.Errorf("largest threadgroup %+v", got)
	}
	class, err := w.Class("NSProcessInfo")
	if err != nil {
		t.Fatal(err)
	}
	process := w.m.Process.Send(class, w.m.Process.SEL)
	if got := w.m.System.Send(process, w.m.System.SEL); got != (Version{14, 5, 1}) {
		t.Errorf("system %+v", got)
	}
	if got := w.String(w.m.Name.Send(w.dev, w.m.Name.SEL)); got != "Grün\u2028GPU" {
		t.Errorf("name %q", got)
	}
	if !w.RespondsTo(w.dev, w.m.Name.SEL) || w.RespondsTo(w.dev, w.m.Commit.SEL) {
		t.Error("what the device responds to is wrong")
	}
	if got := w.LiveEncoding(w.dev, w.m.Library.SEL); got != "@@:@@^@" {
		t.Errorf("live encoding %s", got)
	}
	if got := w.LiveEncoding(w.dev, w.m.Commit.SEL); got != "" {
		t.Errorf("live encoding of an absent method %s", got)
	}
	if _, err := w.Class("NSNoSuchThing"); err == nil {
		t.Error("an absent class is found")
	}
}

// An NSError's place is filled after a failure, with a log longer than any
// buffer, and holds anything after a success.
func TestErrorPlace(t *testing.T) {
	log := "program_source:1:1: error: " + strings.Repeat("é", 50<<10)
	w := newWorld(t, standin.Options{Plant: func(p standin.Point, n int, _ string) *standin.Failure {
		if p == standin.AtLibrary && n == 1 {
			return &standin.Failure{Domain: "MTLLibraryErrorDomain", Code: 3, Text: log}
		}
		return nil
	}})
	defer w.Push().Pop()
	text, err := w.NewString("kernel void a() {}")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Release(text)
	var why ID
	if l := w.m.Library.Send(w.dev, w.m.Library.SEL, text, 0, &why); l != 0 {
		t.Fatal("a library in spite of the failure")
	}
	if e := w.Error(why); e.Domain != "MTLLibraryErrorDomain" || e.Code != 3 || !strings.HasPrefix(e.Text, log) {
		t.Errorf("%.100v", e)
	}
	l := w.m.Library.Send(w.dev, w.m.Library.SEL, text, 0, &why)
	if l == 0 || why == 0 {
		t.Errorf("library %#x, and %#x in the place for an error", l, why)
	}
	w.Release(l)
	if e := w.Error(0); e.Error() != "the system gave no reason" {
		t.Errorf("nil: %v", e)
	}
}

// Two structs of 24 bytes by value, through the typed function and laid out by
// hand, and the completed handler as a global block.
func TestSizesAndBlock(t *testing.T) {
	w := newWorld(t, standin.Options{})
	defer w.Push().Pop()
	text, err1 := w.NewString("kernel void a() {}")
	name, err2 := w.NewString("a")
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	var why ID
	library := w.m.Library.Send(w.dev, w.m.Library.SEL, text, 0, &why)
	function := w.m.Function.Send(library, w.m.Function.SEL, name)
	pipeline := w.m.Pipeline.Send(w.dev, w.m.Pipeline.SEL, function, &why)
	queue := w.m.Queue.Send(w.dev, w.m.Queue.SEL)
	commands := w.m.Commands.Send(queue, w.m.Commands.SEL)
	encoder := w.m.Encoder.Send(commands, w.m.Encoder.SEL, 1)
	w.Send1(encoder, w.m.Set.SEL, uintptr(pipeline))
	w.m.Bytes.Send(encoder, w.m.Bytes.SEL, unsafe.Pointer(&[]byte{1, 2, 3, 4}[0]), 4, 5)
	w.m.Threads.Send(encoder, w.m.Threads.SEL, Size{7, 11, 13}, Size{2, 3, 4})
	w.SendSizes(encoder, w.m.Threads.SEL, Size{17, 19, 23}, Size{5, 6, 7})
	w.Send(encoder, w.m.End.SEL)
	got := w.Completion(1, func(handler Block) {
		w.m.Completed.Send(commands, w.m.Completed.SEL, handler)
		w.Send(commands, w.m.Commit.SEL)
		w.Send(commands, w.m.Wait.SEL)
	})
	if got != [3]ID{commands, 0, 0} {
		t.Errorf("the handler is called with %#x, not %#x", got, commands)
	}
	w.Release(got[0])
	if got := w.m.Start.Send(commands, w.m.Start.SEL); got <= 0 {
		t.Errorf("started at %v", got)
	}
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	if got, want := fmt.Sprint(w.r.sizes), "[{7 11 13} {2 3 4} {17 19 23} {5 6 7}]"; got != want {
		t.Errorf("sizes %s, want %s", got, want)
	}
	for _, o := range []ID{queue, pipeline, function, library, name, text} {
		w.Release(o)
	}
}

// What a message costs each way.
func BenchmarkMessages(b *testing.B) {
	w := newWorld(b, standin.Options{})
	defer w.Push().Pop()
	b.Run("typed", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w.m.Registry.Send(w.dev, w.m.Registry.SEL)
		}
	})
	b.Run("fast", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w.Send(w.dev, w.m.Registry.SEL)
		}
	})
	b.Run("pool", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w.Push().Pop()
		}
	})
}
