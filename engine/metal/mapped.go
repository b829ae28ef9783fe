package metal

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/pool"
	"github.com/introgen/introgen/metalshim"
)

// argumentAlign is what the offset of a buffer argument must be a multiple of:
// the widest type that kernels read weights in, float4, has 16 bytes (Apple,
// setBuffer:offset:atIndex: for the device address space).
const argumentAlign = 16

// Placing says how the matrices of a model file come to lie in buffers over its
// map: in as few as the device's limit allows, each from page to page.
type Placing struct {
	// Views are the ranges of the file that the buffers cover, in its order, in
	// bytes. Two may share a page. The last may end behind the file's end, with
	// its last page.
	Views [][2]int64
	// Copied are the matrices that find no place and are copied, each with why.
	Copied []string
	// Expanded is how many matrices are read from their place but once, to be
	// copied as float32: candle multiplies by F32, F16 and BF16 as such.
	Expanded int

	at map[string]place // the other matrices
}

// place is the view that a tensor lies in, and where in it it begins.
type place struct {
	view   int
	offset int64
}

// Place finds the matrices of f a place in buffers of at most longest bytes, the
// device's limit. Tensors of one row are decoded when the model is loaded, and are
// no concern of it.
func Place(f *gguf.File, longest int64) *Placing { return placing(f, longest, int64(os.Getpagesize())) }

func placing(f *gguf.File, longest, page int64) *Placing {
	p := &Placing{at: map[string]place{}}
	var matrices []*gguf.Tensor
	for i := range f.Tensors {
		if t := &f.Tensors[i]; t.Elements() > int64(t.Dims[0]) {
			matrices = append(matrices, t)
		}
	}
	slices.SortFunc(matrices, func(a, b *gguf.Tensor) int { return cmp.Compare(a.Offset, b.Offset) })
	for _, t := range matrices {
		begin, end := t.Offset/page*page, (t.Offset+t.Bytes+page-1)/page*page
		switch last := len(p.Views) - 1; {
		case t.Beside():
			p.Copied = append(p.Copied, t.Name+", which lies in another part of the file than the first")
			continue
		case t.Offset%argumentAlign != 0:
			p.Copied = append(p.Copied, fmt.Sprintf("%s, whose offset %d is no multiple of %d", t.Name, t.Offset, argumentAlign))
			continue
		case end-begin > longest:
			p.Copied = append(p.Copied, fmt.Sprintf("%s, whose pages have %d bytes of the %d that a buffer may have", t.Name, end-begin, longest))
			continue
		case last >= 0 && end-p.Views[last][0] <= longest:
			p.Views[last][1] = max(p.Views[last][1], end)
		default:
			p.Views = append(p.Views, [2]int64{begin, end})
		}
		if f, err := forward.FormatOf(t.Type.String()); err == nil && f.Float() {
			p.Expanded++
		}
		view := len(p.Views) - 1
		p.at[t.Name] = place{view, t.Offset - p.Views[view][0]}
	}
	return p
}

// String tells what becomes of the weights, in one line: "weights mapped, not
// copied".
func (p *Placing) String() string {
	s := "weights mapped, not copied"
	if len(p.at) == p.Expanded {
		s = "weights copied, not mapped"
	}
	if n := len(p.Views); n > 1 {
		s += fmt.Sprintf(" (in %d buffers)", n)
	}
	if p.Expanded > 0 {
		s += fmt.Sprintf(", %d of F32, F16 or BF16 copied as float32, as candle multiplies by them", p.Expanded)
	}
	n := len(p.Copied)
	if n == 0 {
		return s
	}
	const most = 3
	s += fmt.Sprintf(", %d copied: %s", n, strings.Join(p.Copied[:min(n, most)], "; "))
	if n > most {
		s += fmt.Sprintf("; and %d more", n-most)
	}
	return s
}

// mapWeights makes the buffers over the map of f.
func (e *Engine) mapWeights(f *gguf.File) error {
	p := Place(f, e.d.metal.Info().MaxBufferLength)
	e.file, e.placed = f, map[string]*buffer{}
	for _, v := range p.Views {
		b, err := metalshim.NewBufferNoCopy(e.d.metal, f.Map()[v[0]:v[1]])
		if err != nil {
			return fmt.Errorf("metal: the model's map as a buffer: %w", err)
		}
		view := e.d.numbered(b)
		e.d.borrowed, e.views = append(e.d.borrowed, view), append(e.views, view)
	}
	for name, at := range p.at {
		view := e.views[at.view]
		begin := f.Map()[p.Views[at.view][0]+at.offset:]
		if w, ok := e.weights[name]; ok && !w.decoded && unsafe.SliceData(w.data) != unsafe.SliceData(begin) {
			return fmt.Errorf("metal: tensor %s does not lie in the map of %s: the model was loaded from another file", name, f.Path)
		}
		e.placed[name] = &buffer{Buffer: view.Buffer, id: view.id, offset: int(at.offset)}
	}
	return nil
}

// unmapWeights gives the buffers over the map back, whose memory may go as soon
// as it returns.
func (e *Engine) unmapWeights() {
	if len(e.views) == 0 {
		return
	}
	e.d.drain()
	if e.d.failed != nil && e.d.current != nil {
		// What is encoded will never run, and holds on to the buffers.
		e.d.current.Release()
		e.d.current = nil
	}
	e.d.giveBack(e.views)
	e.views, e.placed, e.file = nil, nil, nil
}

// weight is a tensor as the file has it: where it lies in the map, in no pool
// because nothing may ever be written there, or else a copy.
func (e *Engine) weight(name string) (*pool.Item[*buffer], error) {
	w := e.weights[name]
	if at, ok := e.placed[name]; ok && !w.decoded {
		return &pool.Item[*buffer]{Buffer: at, Size: len(w.data)}, nil
	}
	return e.d.upload(w.data)
}

// blame finds out whether a command buffer's failure is the file's, which has
// shrunk under the device.
func (e *Engine) blame(err error) error {
	var failed *metalshim.CommandError
	if e.file == nil || !errors.As(err, &failed) {
		return err
	}
	all := e.file.Map()[:e.file.Size]
	cause := gguf.Fault(func() error {
		var sum byte
		for at := 0; at < len(all); at += os.Getpagesize() {
			sum ^= all[at]
		}
		runtime.KeepAlive(sum)
		return nil
	})
	if cause == nil {
		return err
	}
	return fmt.Errorf("%w: %w", cause, err)
}
