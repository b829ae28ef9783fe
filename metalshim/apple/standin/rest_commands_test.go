//go:build linux && (amd64 || arm64)

package standin_test

import "github.com/ebitengine/purego"

func (w *world) queues() {
	d := w.initialised("MTLCommandQueueDescriptor")
	w.send(d, "setMaxCommandBufferCount:", 8)
	label := w.send(w.str("label"), "autorelease")
	for _, q := range []uintptr{w.send(w.dev, "newCommandQueueWithDescriptor:", d), w.send(w.dev, "newCommandQueueWithMaxCommandBufferCount:", 4)} {
		w.send(q, "setLabel:", label)
		w.says("label", w.send(q, "label"), "label")
		w.is("device", w.send(q, "device"), w.dev)
		w.release(q)
	}
	w.release(d, w.make("MTLCommandQueueDescriptor"))
}

func (w *world) commandBuffers() {
	d := w.initialised("MTLCommandBufferDescriptor")
	w.send(d, "setErrorOptions:", 1)
	w.is("retainedReferences", w.send(w.send(w.queue, "commandBufferWithDescriptor:", d), "retainedReferences")&0xff, 1)
	w.send(d, "setRetainedReferences:", 0)
	w.is("retainedReferences", w.send(w.send(w.queue, "commandBufferWithDescriptor:", d), "retainedReferences")&0xff, 0)
	w.release(d, w.make("MTLCommandBufferDescriptor"))

	c := w.send(w.queue, "commandBufferWithUnretainedReferences")
	w.send(c, "setLabel:", w.send(w.str("label"), "autorelease"))
	w.says("label", w.send(c, "label"), "label")
	w.is("errorOptions", w.send(c, "errorOptions"), 0)
	w.is("status", w.send(c, "status"), 0)
	w.send(c, "enqueue")
	w.is("status", w.send(c, "status"), 1)
	w.is("error", w.send(c, "error"), 0)
	scheduled, completed := make(chan uintptr, 1), make(chan uintptr, 1)
	f := purego.NewCallback(func(_, commands uintptr) { scheduled <- commands })
	w.send(c, "addScheduledHandler:", w.blockWith("_NSConcreteGlobalBlock", 1<<28, f))
	g := purego.NewCallback(func(_, commands uintptr) { completed <- commands })
	w.send(c, "addCompletedHandler:", w.blockWith("_NSConcreteGlobalBlock", 1<<28, g))
	w.send(c, "kernelStartTime") // 0, in a register that is not asked for here
	e := w.send(c, "computeCommandEncoder")
	w.dispatch(e)
	w.send(e, "endEncoding")
	w.send(c, "commit")
	w.completed(c)
	w.send(c, "waitUntilScheduled")
	w.is("scheduled", <-scheduled, c)
	w.is("completed", <-completed, c)
	w.is("status", w.send(c, "status"), 4)
}

func (w *world) encoders() {
	label := w.send(w.str("label"), "autorelease")
	c := w.commands()
	e := w.send(c, "computeCommandEncoderWithDispatchType:", 1)
	w.is("dispatchType", w.send(e, "dispatchType"), 1)
	w.send(e, "setLabel:", label)
	w.is("label", w.send(e, "label"), label)
	w.is("device", w.send(e, "device"), w.dev)
	w.send(e, "insertDebugSignpost:", label)
	w.send(e, "pushDebugGroup:", label)
	w.send(e, "popDebugGroup")
	two := address(&[2]uintptr{w.buf, w.buf})
	w.send(e, "setBuffers:offsets:withRange:", two, address(&[2]uint64{4, 8}), 1, 2)
	w.send(e, "setBufferOffset:atIndex:", 12, 2)
	w.send(e, "memoryBarrierWithResources:count:", two, 2)
	w.send(e, "useResource:usage:", w.buf, 1)
	w.send(e, "useResources:count:usage:", two, 2, 3)
	w.send(e, "endEncoding")
	b := w.send(c, "blitCommandEncoder")
	w.send(b, "synchronizeResource:", w.buf)
	w.send(b, "endEncoding")
	w.send(c, "commit")
	w.completed(c)
}
