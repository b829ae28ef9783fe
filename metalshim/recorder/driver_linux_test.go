//go:build linux && (amd64 || arm64)

package recorder

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/ebitengine/purego"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple"
	"github.com/introgen/introgen/metalshim/apple/objc"
)

func init() {
	scenarios["devices"] = playDevices
	scenarios["driver"] = playDriver
	scenarios["odd"] = playOdd
	scenarios["lookup"] = playLookup
	scenarios["digests"] = playDigests
}

// playDevices makes and drops devices, with what hangs on them.
func playDevices(p *program) {
	for range 1000 {
		dev := p.call("MTLCreateSystemDefaultDevice")
		p.expect(Device, dev, 0x1122334455667788)
		p.says("test")
		queue := p.send(dev, "newCommandQueue")
		p.expect(Queue, queue, uint64(dev))
		p.pooled(func() {
			commands := p.send(queue, "commandBuffer")
			p.expect(Commands, commands, uint64(queue))
		})
		p.release(queue, dev)
	}
}

// A thousand devices, made and dropped, leave nothing: the stand-in tells of
// what is alive at the end.
func TestDevices(t *testing.T) {
	did, recorded := play(t, "devices")
	compare(t, did, recorded)
}

// playLookup sends as programs for GNUstep do: it asks for a message's body, and
// calls that.
func playLookup(p *program) {
	send := func(o uintptr, selector string, args ...uintptr) uintptr {
		s := p.sel(selector)
		r, _, _ := purego.SyscallN(p.call("objc_msg_lookup", o, s), append([]uintptr{o, s}, args...)...)
		return r
	}
	dev := p.call("MTLCreateSystemDefaultDevice")
	p.expect(Device, dev, 0x1122334455667788)
	p.says("test")
	queue := send(dev, "newCommandQueue")
	p.expect(Queue, queue, uint64(dev))
	buffer := send(dev, "newBufferWithLength:options:", 64, 0)
	p.expect(Buffer, buffer, 64, 0, 1)
	p.pooled(func() {
		commands := send(queue, "commandBuffer")
		p.expect(Commands, commands, uint64(queue))
		blit := send(commands, "blitCommandEncoder")
		p.expect(Encoder, blit, uint64(commands), 3)
		send(blit, "fillBuffer:range:value:", buffer, 0, 16, 9)
		p.expect(Blit, blit, 2, 16)
		send(blit, "endEncoding")
		p.expect(EncoderEnd, blit)
		send(commands, "commit")
		p.expect(Commit, commands)
		send(commands, "waitUntilCompleted")
		p.expect(WaitBegin, commands, 1)
		p.expect(WaitEnd, commands, 1, 0, 1)
		p.expect(Scheduled, commands)
		p.expect(Completed, commands, 0, 0, 4)
	})
	p.release(buffer, queue, dev)
}

// What is sent in GNUstep's way is recorded as what is sent in Apple's.
func TestLookup(t *testing.T) {
	did, recorded := play(t, "lookup")
	compare(t, did, recorded, Scheduled, Completed)
}

// playDigests compiles sources of lengths at which SHA-256 pads in another way.
func playDigests(p *program) {
	dev := p.call("MTLCreateSystemDefaultDevice")
	p.expect(Device, dev, 0x1122334455667788)
	p.says("test")
	p.pooled(func() {
		for i, n := range []int{1, 54, 55, 56, 57, 63, 64, 65, 118, 119, 120, 127, 128, 129, 1000} {
			text := strings.Repeat("µx", n)[:n&^1] + strings.Repeat("y", n&1)
			text = strings.ToValidUTF8(text, "?")
			source := p.str(text)
			library := p.send(dev, "newLibraryWithSource:options:error:", source, 0, 0)
			p.expect(LibraryBegin, uintptr(i+1), uint64(dev), 1, uint64(len(text)))
			p.says(fmt.Sprintf("%x default", sha256.Sum256([]byte(text))))
			p.expect(LibraryEnd, uintptr(i+1), uint64(library), 2, 2)
			p.release(source, library)
		}
	})
	p.release(dev)
}

// A source is told by the digest that it has elsewhere.
func TestDigests(t *testing.T) {
	did, recorded := play(t, "digests")
	compare(t, did, recorded)
}

// odd is a label that no terminal should be shown as it is.
const odd = "\x01\x1b[2J\u202elabel\r\n"

// playOdd makes what is large and what is odd.
func playOdd(p *program) {
	dev := p.call("MTLCreateSystemDefaultDevice")
	p.expect(Device, dev, 0x1122334455667788)
	p.says("test")
	text := strings.Repeat("// fifty million bytes\n", 50_000_000/23)
	source := p.str(text)
	p.pooled(func() {
		library := p.send(dev, "newLibraryWithSource:options:error:", source, 0, 0)
		p.expect(LibraryBegin, 1, uint64(dev), 1, uint64(len(text)), 0)
		p.says("0 default")
		p.expect(LibraryEnd, 1, uint64(library), 2, 2)
		label := p.str(odd)
		p.send(library, "setLabel:", label)
		p.expect(Label, library)
		p.says(odd)
		p.release(label, library)
	})
	p.release(source, dev)
}

// A source of fifty million bytes is told by its digest, and a label as it is.
func TestLargeAndOdd(t *testing.T) {
	did, recorded := play(t, "odd")
	for i := range recorded {
		if recorded[i].Kind == LibraryBegin {
			if len(recorded[i].Text) != 64+len(" default") {
				t.Errorf("%q", recorded[i].Text)
			}
			recorded[i].Text = "0 default"
		}
	}
	compare(t, did, recorded)
}

// playDriver lets the apple driver work, by its own messages, on several
// threads, and says how often it sent which.
func playDriver(p *program) {
	path, metal := os.Args[len(os.Args)-1], strings.Split(os.Getenv("LD_PRELOAD"), ":")[0]
	d, err := apple.Open(context.Background(), apple.Options{Libraries: objc.Libraries{Runtime: path, Foundation: path, Metal: metal}})
	if err != nil {
		panic(err)
	}
	const threads, rounds = 8, 20
	var all sync.WaitGroup
	for k := range threads {
		all.Go(func() {
			for i := range rounds {
				if err := drive(d, fmt.Sprintf("kernel void a() {} // %d %d", k, i)); err != nil {
					panic(err)
				}
			}
		})
	}
	all.Wait()
	if err := d.Close(); err != nil {
		panic(err)
	}
	calls, err := json.Marshal(p.s.Calls())
	if err != nil {
		panic(err)
	}
	p.expect(Mark, 0)
	p.says(string(calls))
}

// drive is one use of everything that the driver has.
func drive(d *apple.Device, source string) error {
	ctx := context.Background()
	library, err := d.NewLibrary(ctx, metalshim.Source{Name: "s", Text: source})
	if err != nil {
		return err
	}
	defer library.Release()
	pipeline, err := library.NewPipeline(ctx, "a", []metalshim.Constant{{Index: 1, Type: 29, Bits: 5}})
	if err != nil {
		return err
	}
	defer pipeline.Release()
	buffer, err := d.NewBuffer(1024, metalshim.Shared)
	if err != nil {
		return err
	}
	defer buffer.Release()
	queue, err := d.NewQueue()
	if err != nil {
		return err
	}
	defer queue.Release()
	fence, err := d.NewFence()
	if err != nil {
		return err
	}
	defer fence.Release()
	commands, err := queue.NewCommandBuffer()
	if err != nil {
		return err
	}
	defer commands.Release()
	encoder, err := commands.NewEncoder(metalshim.Concurrent)
	if err != nil {
		return err
	}
	encoder.SetLabel("an encoder")
	encoder.SetPipeline(pipeline)
	encoder.SetBuffer(0, buffer, 0)
	one, lanes := metalshim.Size{X: 1, Y: 1, Z: 1}, metalshim.Size{X: 32, Y: 1, Z: 1}
	for range 10 {
		if err := errors.Join(encoder.DispatchThreadgroups(one, lanes), encoder.DispatchThreads(lanes, lanes)); err != nil {
			return err
		}
		encoder.MemoryBarrier(metalshim.BarrierBuffers)
	}
	encoder.UpdateFence(fence)
	if err := encoder.EndEncoding(); err != nil {
		return err
	}
	blit, err := commands.NewBlit()
	if err != nil {
		return err
	}
	blit.WaitForFence(fence)
	blit.Copy(buffer, 0, buffer, 512, 64)
	if err := blit.EndEncoding(); err != nil {
		return err
	}
	told := make(chan bool, 1)
	commands.OnCompleted(func(metalshim.CommandBuffer) { told <- true })
	if err := commands.Commit(); err != nil {
		return err
	}
	err = commands.Wait(ctx)
	<-told
	return err
}

// kindOf is the event that a message leaves; of those with a beginning and an
// end the beginning.
var kindOf = map[string]Kind{
	"newLibraryWithSource:options:error:": LibraryBegin, "newFunctionWithName:constantValues:error:": Function,
	"newLibraryWithSource:options:completionHandler:": LibraryBegin, "newComputePipelineStateWithFunction:completionHandler:": PipelineBegin,
	"newComputePipelineStateWithFunction:error:": PipelineBegin, "newBufferWithLength:options:": Buffer, "newCommandQueue": Queue,
	"newCommandQueueWithMaxCommandBufferCount:": Queue, "commandBuffer": Commands, "commandBufferWithUnretainedReferences": Commands,
	"computeCommandEncoderWithDispatchType:": Encoder, "blitCommandEncoder": Encoder, "endEncoding": EncoderEnd, "setComputePipelineState:": SetPipeline,
	"dispatchThreadgroups:threadsPerThreadgroup:": Dispatch, "dispatchThreads:threadsPerThreadgroup:": Dispatch, "memoryBarrierWithScope:": Barrier,
	"updateFence:": Fence, "waitForFence:": Fence, "commit": Commit, "setLabel:": Label, "enqueue": Enqueue,
	"copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:": Blit, "fillBuffer:range:value:": Blit, "waitUntilCompleted": WaitBegin,
	"addCompletedHandler:": Handler, "addScheduledHandler:": Handler,
}

// What the apple driver sends on eight threads is recorded, each message once:
// the stand-in counts them, too.
func TestDriver(t *testing.T) {
	did, recorded := play(t, "driver")
	var calls map[string]int64
	if err := json.Unmarshal([]byte(did[0].Text), &calls); err != nil {
		t.Fatal(err)
	}
	want, got := map[Kind]int{}, map[Kind]int{}
	for method, n := range calls {
		_, selector, _ := strings.Cut(strings.TrimSuffix(method, "]"), " ")
		if k, ok := kindOf[selector]; ok && !strings.HasPrefix(method, "-[MTLResidencySet ") {
			want[k] += int(n)
		}
	}
	want[Handler] -= want[Commands] // the recorder's own
	for k, of := range map[Kind]Kind{LibraryEnd: LibraryBegin, PipelineEnd: PipelineBegin, WaitEnd: WaitBegin, Scheduled: Commit, Completed: Commit} {
		want[k] = want[of]
	}
	threads := map[uint32]bool{}
	for _, e := range recorded {
		got[e.Kind]++
		threads[e.Thread] = true
	}
	for k, n := range want {
		if got[k] != n {
			t.Errorf("kind %d: %d events, %d messages", k, got[k], n)
		}
	}
	if want[Dispatch] != 8*20*20 || len(threads) < 2 {
		t.Errorf("%d dispatches on %d threads", want[Dispatch], len(threads))
	}
	follow(t, recorded)
}

// follow checks that each command buffer's life is told in its order, with
// times that follow one another on one clock.
func follow(t *testing.T, recorded []Event) {
	t.Helper()
	made, committed := map[uint64]int64{}, map[uint64]int64{}
	for _, e := range recorded {
		switch e.Kind {
		case Commands:
			made[e.Object] = e.Time
			delete(committed, e.Object)
		case Commit:
			committed[e.Object] = int64(e.A)
			if int64(e.A) < made[e.Object] || e.Time < int64(e.A) {
				t.Fatalf("made at %d, commit from %d to %d", made[e.Object], e.A, e.Time)
			}
		case Completed:
			if e.A == 0 || e.B < e.A || int64(e.B) > e.Time || int64(e.A) < made[e.Object] {
				t.Fatalf("made at %d, ran from %d to %d, told at %d", made[e.Object], e.A, e.B, e.Time)
			}
		case WaitEnd:
			if int64(e.B) > e.Time || e.B == 0 {
				t.Fatalf("a wait from %d to %d", e.B, e.Time)
			}
		}
	}
	if len(made) == 0 || len(committed) == 0 {
		t.Error("no command buffer was followed")
	}
}
