package forward

import (
	"encoding/binary"
	"math"

	"github.com/introgen/introgen/metalshim"
)

// builder hands out steps one by one. It reuses one Step and one Dispatch, so
// that a decode step of 604 dispatches allocates next to nothing.
type builder struct {
	architecture string

	yield   func(*Step) bool
	stopped bool // the caller wants no more

	part  Part // of what is encoded
	step  Step
	d     Dispatch
	bytes []byte // the Data of the dispatch's arguments
	start int    // of the argument under way
	spans [metalshim.MaxBufferIndex][2]int

	last Buf     // the highest name given out
	free []Buf   // names that may be used again
	refs []int32 // of each name: how many hold the buffer
	dry  bool    // nobody looks at what masks hold
}

// emit hands a step out.
func (b *builder) emit(s Step) {
	b.step = s
	if !b.stopped && !b.yield(&b.step) {
		b.stopped = true
	}
}

// result hands out a step that makes a buffer, and names that.
func (b *builder) result(s Step) Buf {
	s.Buf = b.newBuf()
	b.emit(s)
	return s.Buf
}

// newBuf finds an unused name.
func (b *builder) newBuf() Buf {
	if n := len(b.free); n > 0 {
		x := b.free[n-1]
		b.free = b.free[:n-1]
		b.refs[x] = 1
		return x
	}
	b.last++
	for int(b.last) >= len(b.refs) {
		b.refs = append(b.refs, 0)
	}
	b.refs[b.last] = 1
	return b.last
}

func (b *builder) upload(data []byte) Buf {
	return b.result(Step{Op: Upload, Data: data, Bytes: len(data)})
}

func (b *builder) uploadWeight(w Weight) Buf {
	return b.result(Step{Op: UploadWeight, Name: w.Name, Bytes: w.bytes()})
}

// alloc takes a private buffer for n float32 elements.
func (b *builder) alloc(n int) Buf { return b.result(Step{Op: Alloc, Bytes: 4 * n}) }

// hold keeps a buffer for one more user, who releases it too.
func (b *builder) hold(x Buf) { b.refs[x]++ }

// release gives buffers back that nobody else holds.
func (b *builder) release(bufs ...Buf) {
	for _, x := range bufs {
		if x == 0 {
			continue
		}
		if b.refs[x]--; b.refs[x] > 0 {
			continue
		}
		b.emit(Step{Op: Free, Buf: x})
		b.free = append(b.free, x)
	}
}

// fetch copies n bytes from the start of src to a buffer that the CPU sees and
// waits until they are there.
func (b *builder) fetch(src Buf, n int) Buf {
	x := b.result(Step{Op: Stage, Bytes: n})
	b.emit(Step{Op: Copy, Buf: x, Src: src, Bytes: n, Part: b.part, Label: "blit_to_cpu"})
	b.emit(Step{Op: Wait})
	return x
}

// blit copies n bytes from an offset of src to one of dst, in an encoder of its own.
func (b *builder) blit(src, dst Buf, from, to, n int, label string) {
	b.emit(Step{Op: Copy, Buf: dst, Src: src, SrcOffset: from, Offset: to, Bytes: n, Part: b.part, Label: label})
}

// zeros is a shared buffer for n float32 elements, all 0.
func (b *builder) zeros(n int) Buf {
	x := b.result(Step{Op: Stage, Bytes: 4 * n})
	b.emit(Step{Op: Fill, Buf: x, Part: b.part, Label: "zeros"})
	return x
}

// take hands n bytes of src to the caller.
func (b *builder) take(src Buf, n int) {
	x := b.fetch(src, n)
	b.emit(Step{Op: Take, Src: x, Bytes: n})
	b.release(x)
}

// op begins a dispatch that makes n float32 elements in a fresh buffer.
func (b *builder) op(n int, library, function string) Buf {
	out := b.alloc(n)
	b.begin(library, function)
	return out
}

// done ends a dispatch whose last argument, index, is its result.
func (b *builder) done(index int, out Buf, e Extent) Buf {
	b.out(index, out, 0)
	b.run(e)
	return out
}

func (b *builder) begin(library, function string) {
	b.d = Dispatch{Library: library, Function: function, Args: b.d.Args[:0], Constants: nil, Part: b.part}
	b.bytes = b.bytes[:0]
}

// as says what of the model is encoded from here on: a part of the same layer, or
// of none.
func (b *builder) as(name string)      { b.part.Name = name }
func (b *builder) outside(name string) { b.part = Part{NoLayer, name} }

func (b *builder) label(s string)                    { b.d.Label = s }
func (b *builder) joined()                           { b.d.Joined = true }
func (b *builder) constants(c ...metalshim.Constant) { b.d.Constants = c }
func (b *builder) in(index int, x Buf, offset int)   { b.arg(Arg{Index: index, Buf: x, Offset: offset}) }
func (b *builder) out(index int, x Buf, offset int) {
	b.arg(Arg{Index: index, Buf: x, Offset: offset, Out: true})
}
func (b *builder) arg(a Arg)                { b.d.Args = append(b.d.Args, a) }
func (b *builder) beginBytes()              { b.start = len(b.bytes) }
func (b *builder) u64(index int, v ...int)  { b.beginBytes(); b.u64s(v...); b.endBytes(index) }
func (b *builder) i32(index int, v ...int)  { b.beginBytes(); b.i32s(v...); b.endBytes(index) }
func (b *builder) f32(index int, v float32) { b.i32(index, int(int32(math.Float32bits(v)))) }
func (b *builder) boolean(index int, v byte) {
	b.beginBytes()
	b.bytes = append(b.bytes, v)
	b.endBytes(index)
}

func (b *builder) u64s(v ...int) {
	for _, x := range v {
		b.bytes = binary.LittleEndian.AppendUint64(b.bytes, uint64(x))
	}
}

func (b *builder) i32s(v ...int) {
	for _, x := range v {
		b.bytes = binary.LittleEndian.AppendUint32(b.bytes, uint32(x))
	}
}

// endBytes makes what was written since beginBytes argument index. The bytes
// may still move, so the argument gets its slice in run.
func (b *builder) endBytes(index int) {
	b.spans[len(b.d.Args)] = [2]int{b.start, len(b.bytes)}
	b.arg(Arg{Index: index})
}

// run closes the dispatch and hands it out.
func (b *builder) run(e Extent) {
	for i := range b.d.Args {
		if a := &b.d.Args[i]; a.Buf == 0 {
			a.Data = b.bytes[b.spans[i][0]:b.spans[i][1]:b.spans[i][1]]
		}
	}
	b.d.Extent = e
	b.emit(Step{Op: Run, Dispatch: &b.d})
}
