//go:build linux && (amd64 || arm64)

package standin_test

import (
	"maps"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"sync"
	"testing"

	"github.com/ebitengine/purego"

	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/metalshim/shimtest"
)

// envMisuse is the misuse that a child process of TestMisuse commits.
const envMisuse = "INTROGEN_TEST_MISUSE"

// open is a compute encoder of a new command buffer, to be used in a pool.
func (w *world) open() (commands, encoder uintptr) {
	commands = w.commands()
	return commands, w.send(commands, "computeCommandEncoder")
}

// dispatch is what a correct program does between opening and end.
func (w *world) dispatch(encoder uintptr) {
	w.send(encoder, "setComputePipelineState:", w.pipeline)
	w.send(encoder, "setBuffer:offset:atIndex:", w.buf, 0, 0)
}

// A misuse ends the process, with a line that says how.
type misuse struct {
	want string // after "standin: ", a regular expression
	do   func(w *world)
}

// What is wrong with these is what is sent, or when, or to whom.
var misuses = map[string]misuse{
	// ---- messages
	"unknown selector":         {`unknown selector -\[StandinDevice newCommandQueu\]`, func(w *world) { w.send(w.dev, "newCommandQueu") }},
	"unknown class method":     {`unknown selector \+\[NSString stringFromNothing\]`, func(w *world) { w.send(w.class("NSString"), "stringFromNothing") }},
	"wrong receiver":           {`unknown selector -\[StandinCommandQueue newFence\]`, func(w *world) { w.send(w.queue, "newFence") }},
	"instance method to class": {`unknown selector \+\[NSString length\]`, func(w *world) { w.send(w.class("NSString"), "length") }},
	"not a selector":           {`objc_msgSend with 0x3039, which is no selector`, func(w *world) { w.call("objc_msgSend", w.dev, 12345) }},
	"not an object":            {`name: 0xabc0 is no object`, func(w *world) { w.send(0xabc0, "name") }},
	"inside an object":         {`name: 0x[0-9a-f]+ is no object`, func(w *world) { w.send(w.dev+8, "name") }},
	"nil receiver":             {`message commit to nil`, func(w *world) { w.send(0, "commit") }},
	"method without a body":    {`-\[MTLDevice newHeapWithDescriptor:\]: the table has it, but the stand-in does not`, func(w *world) { w.send(w.dev, "newHeapWithDescriptor:", w.buf) }},
	"method that is lacking":   {`unknown selector -\[StandinDevice newEvent\]`, func(w *world) { w.send(w.dev, "newEvent") }},
	"message after the end": {`no device is served`, func(w *world) {
		w.s.Close()
		w.call("MTLCreateSystemDefaultDevice")
	}},

	// ---- ownership
	"over-release": {`over-release of StandinComputePipelineState #\d+, which is dead`, func(w *world) { w.release(w.pipeline, w.pipeline) }},
	"over-release by objc_release": {`over-release of StandinFunction #\d+, which is dead`, func(w *world) {
		w.release(w.function)
		w.call("objc_release", w.function)
	}},
	"release of +0": {`over-release of StandinCommandBuffer #\d+: only an autorelease pool owns it`, func(w *world) {
		w.pooled(func() { w.release(w.commands()) })
	}},
	"autorelease twice": {`StandinBuffer #\d+ is autoreleased more often than it is owned`, func(w *world) {
		w.pooled(func() { w.send(w.buf, "autorelease"); w.send(w.buf, "autorelease") })
	}},
	"release of the system's": {`over-release of NSProcessInfo #\d+, which belongs to the system`, func(w *world) {
		w.release(w.send(w.class("NSProcessInfo"), "processInfo"))
	}},
	"use after release": {`registryID: use after release of StandinDevice #\d+`, func(w *world) {
		w.release(w.buf, w.queue, w.pipeline, w.function, w.library, w.dev)
		w.send(w.dev, "registryID")
	}},
	"use after release, as an argument": {`newComputePipelineStateWithFunction:error:\]: the function: use after release of StandinFunction`, func(w *world) {
		w.release(w.function)
		w.send(w.dev, "newComputePipelineStateWithFunction:error:", w.function, 0)
	}},
	"+0 used after its pool": {`status: use after release of StandinCommandBuffer`, func(w *world) {
		var c uintptr
		w.pooled(func() { c = w.commands() })
		w.send(c, "status")
	}},
	"NSError used after its pool": {`code: use after release of NSError`, func(w *world) {
		missing := w.str("missing")
		var e uintptr
		w.pooled(func() {
			values := w.make("MTLFunctionConstantValues")
			w.send(w.library, "newFunctionWithName:constantValues:error:", missing, values, address(&e))
		})
		w.send(e, "code")
	}},
	"initialised twice": {`NSString #\d+ is initialised twice`, func(w *world) {
		s := w.str("x")
		w.send(s, "initWithBytes:length:encoding:", cString("y"), 1, 4)
	}},
	"not initialised": {`NSString #\d+ has not been initialised`, func(w *world) { w.send(w.send(w.class("NSString"), "alloc"), "length") }},
	"not initialised, as an argument": {`the source, NSString #\d+, has not been initialised`, func(w *world) {
		w.send(w.dev, "newLibraryWithSource:options:error:", w.send(w.class("NSString"), "alloc"), 0, 0)
	}},

	// ---- pools
	"no pool":        {`commandBuffer\]: StandinCommandBuffer #\d+ is autoreleased, but no pool is in place on this thread`, func(w *world) { w.commands() }},
	"no pool, bytes": {`UTF8String\]: StandinBytes #\d+ is autoreleased, but no pool`, func(w *world) { w.send(w.str("x"), "UTF8String") }},
	"pool popped twice": {`the autorelease pool 0x[0-9a-f]+ is not of this thread, or is popped twice`, func(w *world) {
		p := w.call("objc_autoreleasePoolPush")
		w.call("objc_autoreleasePoolPop", p)
		w.call("objc_autoreleasePoolPop", p)
	}},
	"pools popped out of order": {`is popped before 1 inside it`, func(w *world) {
		p := w.call("objc_autoreleasePoolPush")
		w.call("objc_autoreleasePoolPush")
		w.call("objc_autoreleasePoolPop", p)
	}},
	"pools never popped": {`nested more than 64 deep: one is never popped`, func(w *world) {
		for range 65 {
			w.call("objc_autoreleasePoolPush")
		}
	}},
	"pool popped on another thread": {`is not of this thread`, func(w *world) {
		p := make(chan uintptr)
		go func() {
			runtime.LockOSThread()
			p <- w.call("objc_autoreleasePoolPush")
			select {}
		}()
		w.call("objc_autoreleasePoolPop", <-p)
	}},
	"pool without LockOSThread": {`is not of this thread|no pool is in place on this thread|is popped before`, func(w *world) {
		runtime.GOMAXPROCS(4)
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				for range 500 {
					p := w.call("objc_autoreleasePoolPush")
					w.send(w.dev, "name")
					runtime.Gosched()
					w.call("objc_autoreleasePoolPop", p)
				}
			})
		}
		all.Wait()
	}},

	// ---- command buffers and encoders
	"commit with an open encoder": {`StandinCommandBuffer #\d+ is committed while StandinComputeCommandEncoder #\d+ has not ended`, func(w *world) {
		w.pooled(func() { c, _ := w.open(); w.send(c, "commit") })
	}},
	"encoder dropped": {`StandinComputeCommandEncoder #\d+ is dropped without endEncoding`, func(w *world) { w.pooled(func() { w.open() }) }},
	"blit encoder dropped": {`StandinBlitCommandEncoder #\d+ is dropped without endEncoding`, func(w *world) {
		w.pooled(func() { w.send(w.commands(), "blitCommandEncoder") })
	}},
	"two encoders": {`an encoder is made while StandinComputeCommandEncoder #\d+ has not ended`, func(w *world) {
		w.pooled(func() { c, _ := w.open(); w.send(c, "blitCommandEncoder") })
	}},
	"encoder after commit": {`an encoder: StandinCommandBuffer #\d+ is committed already`, func(w *world) {
		w.pooled(func() { c := w.commands(); w.send(c, "commit"); w.send(c, "computeCommandEncoder") })
	}},
	"encoding after the end": {`setComputePipelineState:\]: StandinComputeCommandEncoder #\d+ has ended`, func(w *world) {
		w.pooled(func() { _, e := w.open(); w.send(e, "endEncoding"); w.dispatch(e) })
	}},
	"ended twice": {`endEncoding\]: StandinComputeCommandEncoder #\d+ has ended`, func(w *world) {
		w.pooled(func() { _, e := w.open(); w.send(e, "endEncoding"); w.send(e, "endEncoding") })
	}},
	"debug group left open": {`1 debug groups are open`, func(w *world) {
		group := w.str("group")
		w.pooled(func() { _, e := w.open(); w.send(e, "pushDebugGroup:", group); w.send(e, "endEncoding") })
	}},
	"committed twice": {`commit: StandinCommandBuffer #\d+ is committed already`, func(w *world) {
		w.pooled(func() { c := w.commands(); w.send(c, "commit"); w.send(c, "commit") })
	}},
	"enqueued twice":          {`is enqueued twice`, func(w *world) { w.pooled(func() { c := w.commands(); w.send(c, "enqueue"); w.send(c, "enqueue") }) }},
	"wait before commit":      {`waitUntilCompleted\]: StandinCommandBuffer #\d+ is waited for before its commit`, func(w *world) { w.pooled(func() { w.send(w.commands(), "waitUntilCompleted") }) }},
	"scheduled before commit": {`waitUntilScheduled\]: StandinCommandBuffer #\d+ is waited for before its commit`, func(w *world) { w.pooled(func() { w.send(w.commands(), "waitUntilScheduled") }) }},
	"handler after commit": {`a handler: StandinCommandBuffer #\d+ is committed already`, func(w *world) {
		w.pooled(func() { c := w.commands(); w.send(c, "commit"); w.send(c, "addCompletedHandler:", 0) })
	}},
	"buffer freed in flight":   {`StandinBuffer #\d+ is released while a command buffer with unretained references uses it`, func(w *world) { w.freedInFlight(&w.buf) }},
	"pipeline freed in flight": {`StandinComputePipelineState #\d+ is released while a command buffer`, func(w *world) { w.freedInFlight(&w.pipeline) }},
	"block without a class": {`the block's isa 0x1 is neither`, func(w *world) {
		w.pooled(func() { w.send(w.commands(), "addCompletedHandler:", address(&[5]uintptr{1, 0, 1, 1, 0})) })
	}},
	"block that says it is global, and is not": {`the block's flags 0x10000000 do not agree with its isa`, func(w *world) {
		w.pooled(func() {
			w.send(w.commands(), "addCompletedHandler:", address(&[5]uintptr{w.symbol("_NSConcreteStackBlock"), 1 << 28, 1, 1, 0}))
		})
	}},
}

// freedInFlight encodes with a command buffer that retains nothing, and
// releases what it needs before its end.
func (w *world) freedInFlight(o *uintptr) {
	w.pooled(func() {
		c := w.send(w.queue, "commandBufferWithUnretainedReferences")
		e := w.send(c, "computeCommandEncoder")
		w.dispatch(e)
		w.send(e, "endEncoding")
		w.send(c, "commit")
		w.release(*o)
	})
}

func (w *world) symbol(name string) uintptr {
	at, err := purego.Dlsym(w.handle, name)
	if err != nil {
		w.t.Fatal(err)
	}
	return at
}

// TestMisuse commits each misuse in a process of its own.
func TestMisuse(t *testing.T) {
	all := map[string]misuse{}
	for _, list := range []map[string]misuse{misuses, argumentMisuses, structMisuses} {
		maps.Copy(all, list)
	}
	if name := os.Getenv(envMisuse); name != "" {
		all[name].do(begun(t, &shimtest.Device{}, standin.Options{Lacks: []string{"newEvent"}}))
		return
	}
	built(t)
	for name, m := range all {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestMisuse$")
			cmd.Env = append(os.Environ(), envMisuse+"="+name, "GOTRACEBACK=none")
			out, err := cmd.CombinedOutput()
			line := regexp.MustCompile(`(?m)^standin: .*$`).FindString(string(out))
			if err == nil || !regexp.MustCompile(m.want).MatchString(line) {
				t.Errorf("the process ended with %v and %q, want %q\n%.2000s", err, line, m.want, out)
			}
		})
	}
}
