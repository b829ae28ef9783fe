package metalshim

import (
	"slices"
	"time"

	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// Work is what a dispatch or a copy reads and writes of buffers, each byte once, and
// the operations that it makes on numbers, of which a multiply-add is two.
type Work struct {
	Read, Written, Ops int64
	Known              bool // else the three are 0, since nobody knows
}

// Operation is what a dispatch or a copy is for whoever encodes it.
type Operation struct {
	Layer int    // from 0; NoLayer outside of layers
	Name  string // "" where nobody has named it
	Work
}

// NoLayer is the Layer of an operation that belongs to none.
const NoLayer = -1

// undescribed is an operation that nobody has described.
var undescribed = Operation{Layer: NoLayer}

// Describe tells what the next dispatch of an encoder is, or the next copy or fill
// of a blit: of one that nobody instruments it is forgotten. What a copy reads and
// writes needs no telling.
func Describe(encoder interface{ EndEncoding() error }, o Operation) {
	if e, ok := encoder.(interface{ describe(o Operation) }); ok {
		e.describe(o)
	}
}

// OperationRecord is an operation with how it was dispatched. Two dispatches that
// are equal in all of it are of one operation.
type OperationRecord struct {
	Operation
	Library, Kernel string // of a copy or a fill names.Blit, and no library
	Grid, Group     Size
	Threads         bool // whether Grid counts threads
}

// ExecutedRecord is when the operations of a command buffer ran.
type ExecutedRecord struct {
	Span       trace.ID // names.SpanGPU of the command buffer
	Operations []int    // in order, numbered from 1 as OperationsFrom lists them
	// Start is on the recorder's clock. Both are nil where the driver cannot tell.
	Start, Took []time.Duration
}

// KernelTotal is what the dispatches of a kernel took, and what they did.
type KernelTotal struct {
	KernelTime
	Read, Written, Ops int64 // as Work has them, of those dispatches of which it is known
	Unknown            int   // dispatches of which it is not
}

// CommandTime is when a dispatch, a copy or a fill began, after GPUStart of its
// command buffer, and how long it took.
type CommandTime struct{ Start, Took time.Duration }

// CommandTimer is implemented by command buffers of drivers that know it of each, in
// the order in which they were encoded. The answer is complete once the buffer has
// completed.
type CommandTimer interface {
	CommandTimes() []CommandTime
}

// CommandTimes is what the driver of c knows of them.
func CommandTimes(c CommandBuffer) []CommandTime {
	if k, ok := c.(CommandTimer); ok {
		return k.CommandTimes()
	}
	return nil
}

// OperationsFrom lists the operations from the n-th on, counted from 0, of those
// that were encoded, each once in the order of first use; none where they are not
// kept.
func (d *Instrumented) OperationsFrom(n int) []OperationRecord {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.operations[n:])
}

// TakeExecuted hands out when operations ran, as far as it is known by now and has
// not been handed out before.
func (d *Instrumented) TakeExecuted() []ExecutedRecord {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.harvest()
	out := d.executed
	d.executed = nil
	return out
}

// number is that of an operation behind that of the number last, 0 where there is
// none. It gets one where it is new. Passes are alike: what came behind last before
// is looked at first, which is several times quicker than to find it among all.
// d.mu is not held.
func (d *Instrumented) number(last int, o OperationRecord) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if last < len(d.behind) {
		if n := d.behind[last]; n > 0 && d.operations[n-1] == o {
			return n
		}
	}
	n, ok := d.numbers[o]
	if !ok {
		d.operations = append(d.operations, o)
		n = len(d.operations)
		d.numbers[o] = n
	}
	for len(d.behind) <= n {
		d.behind = append(d.behind, 0)
	}
	d.behind[last] = n
	return n
}

// add notes a dispatch, a copy or a fill that has been encoded.
func (c *timedCommands) add(o OperationRecord) {
	i := slices.IndexFunc(c.work, func(k KernelTotal) bool { return k.Kernel == o.Kernel })
	if i < 0 {
		i = len(c.work)
		c.work = append(c.work, KernelTotal{KernelTime: KernelTime{Kernel: o.Kernel}})
	}
	c.work[i].Dispatches++
	c.work[i].plus(o.Work)
	if c.d.keep {
		last := 0
		if n := len(c.operations); n > 0 {
			last = c.operations[n-1]
		}
		c.operations = append(c.operations, c.d.number(last, o))
	}
}

// plus adds the work of one dispatch.
func (k *KernelTotal) plus(w Work) {
	if !w.Known {
		k.Unknown++
		return
	}
	k.Read, k.Written, k.Ops = k.Read+w.Read, k.Written+w.Written, k.Ops+w.Ops
}

// commandTimes is when the commands of c ran, as its driver tells it. One that is
// alone in its command buffer ran when that did.
func (c *timedCommands) commandTimes() []CommandTime {
	times, whole := CommandTimes(c.CommandBuffer), c.Times()
	if len(times) == 0 && c.commands() == 1 && !whole.GPUStart.IsZero() && !whole.GPUEnd.IsZero() {
		return []CommandTime{{0, max(0, whole.GPUEnd.Sub(whole.GPUStart))}}
	}
	return times
}

// commands is how many dispatches, copies and fills it has.
func (c *timedCommands) commands() (n int) {
	for _, w := range c.work {
		n += w.Dispatches
	}
	return n
}

// total adds to the device's totals what a command buffer that has ended took and
// did. Where the driver does not tell its kernels, those that were encoded count, and
// they have no times once one command buffer had several. d.mu is held.
func (d *Instrumented) total(c *timedCommands) {
	sum := func(kernel string, change func(*KernelTotal)) {
		k := d.kernels[kernel]
		k.Kernel = kernel
		change(&k)
		d.kernels[kernel] = k
	}
	times := c.KernelTimes()
	for _, t := range times {
		sum(t.Kernel, func(k *KernelTotal) { k.Dispatches, k.Time = k.Dispatches+t.Dispatches, k.Time+t.Time })
	}
	alone := time.Duration(0)
	if n := c.commands(); len(times) == 0 && n > 0 {
		if of := c.commandTimes(); n == 1 && len(of) == 1 {
			alone = of[0].Took
		} else {
			d.untimed = true
		}
	}
	for _, w := range c.work {
		if len(times) > 0 && !slices.ContainsFunc(times, func(t KernelTime) bool { return t.Kernel == w.Kernel }) {
			continue // the driver does not count it
		}
		sum(w.Kernel, func(k *KernelTotal) {
			if len(times) == 0 {
				k.Dispatches, k.Time = k.Dispatches+w.Dispatches, k.Time+alone
			}
			k.Read, k.Written, k.Ops, k.Unknown = k.Read+w.Read, k.Written+w.Written, k.Ops+w.Ops, k.Unknown+w.Unknown
		})
	}
}

// ran notes when the operations of a command buffer ran, which began at start. d.mu
// is held.
func (d *Instrumented) ran(c *timedCommands, span trace.ID, start time.Duration) {
	if !d.keep || span == 0 || len(c.operations) == 0 {
		return
	}
	e := ExecutedRecord{Span: span, Operations: c.operations}
	if times := c.commandTimes(); len(times) == len(c.operations) {
		e.Start, e.Took = make([]time.Duration, len(times)), make([]time.Duration, len(times))
		for i, t := range times {
			e.Start[i], e.Took[i] = start+t.Start, t.Took
		}
	}
	d.executed = append(d.executed, e)
}

func (e *timedEncoder) describe(o Operation) { e.next = o }

// SetPipeline notes which kernel the dispatches that follow are of.
func (e *timedEncoder) SetPipeline(p Pipeline) {
	e.pipeline = p
	e.Encoder.SetPipeline(p)
}

// dispatched notes a dispatch that the driver took.
func (e *timedEncoder) dispatched(grid, group Size, threads bool) {
	e.dispatches++
	e.c.add(OperationRecord{e.next, e.pipeline.Library(), e.pipeline.Name(), grid, group, threads})
	e.next = undescribed
}

func (b *timedBlit) describe(o Operation) { b.next = o }

func (b *timedBlit) transferred(read, written int) {
	o := b.next
	o.Work = Work{Read: int64(read), Written: int64(written), Known: true}
	b.c.add(OperationRecord{Operation: o, Kernel: names.Blit})
	b.next = undescribed
}

// Copy notes the copy. A driver that refuses it says so at the end of the encoder,
// and the command buffer is not committed.
func (b *timedBlit) Copy(dst Buffer, dstOffset int, src Buffer, srcOffset, n int) {
	b.Blit.Copy(dst, dstOffset, src, srcOffset, n)
	b.transferred(n, n)
}

// Fill notes the filling, as Copy does.
func (b *timedBlit) Fill(dst Buffer, offset, n int, value byte) {
	b.Blit.Fill(dst, offset, n, value)
	b.transferred(0, n)
}
