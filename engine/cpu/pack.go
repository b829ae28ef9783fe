package cpu

import (
	"fmt"
	"time"

	"github.com/introgen/introgen/engine/cpu/kernel"
	"github.com/introgen/introgen/engine/cpu/pages"
	"github.com/introgen/introgen/engine/cpu/threads"
	"github.com/introgen/introgen/engine/gguf"
)

// packJob is some tiles of a matrix to be packed.
type packJob struct {
	w        *matrix
	row, end int
}

// jobBytes is about how much a job packs: a fraction of a huge page, so that
// threads take turns in filling one, and enough to be worth claiming.
const jobBytes = 256 << 10

func (j packJob) do() {
	const n = kernel.TileRows
	size := j.w.RowBytes
	for r := j.row; r < j.end; r += n {
		j.w.format.Pack(j.w.tiles[r*size:(r+n)*size], j.w.Data[r*size:(r+n)*size], j.w.Cols/kernel.Block)
	}
	gguf.Forget(j.w.Data[j.row*size : j.end*size]) // what is packed is read there, and memory holds it once
}

// maybePack rewrites the weights in tile order where the options ask for it, or
// promise steps enough to repay it, and says which.
func (e *Engine) maybePack() error {
	d := &e.desc
	size := 0
	for _, w := range e.matrices() {
		size += packedSize(w)
	}
	there, much := int64(0), false
	if e.opt.Pack == PackOn || e.opt.Pack == PackAuto && e.opt.Steps >= repaySteps {
		there, much = tooMuch(size)
	}
	switch {
	case e.opt.Pack == PackOff:
		d.Why = "weights as the file has them"
	case size == 0:
		d.Why = "weights as the file has them, since none has a type that can be packed"
	case e.opt.Pack == PackOn && much:
		return fmt.Errorf("pack: a copy of the weights takes %d MiB, and %d MiB of memory are available; without (--pack=off) they are read where the file lies", size>>20, there>>20)
	case e.opt.Pack == PackOn:
		d.Why, d.Packed = "weights packed", true
	case e.opt.Steps < repaySteps:
		d.Why = fmt.Sprintf("weights as the file has them, since packing repays after some %d steps", repaySteps)
	case size > unaskedBytes || much:
		d.Why = fmt.Sprintf("weights as the file has them, since a copy would take %d MiB", size>>20)
	default:
		d.Why, d.Packed = fmt.Sprintf("weights packed, which %d steps repay", e.opt.Steps), true
	}
	if !d.Packed {
		return nil
	}
	start := time.Now()
	if err := e.pack(size); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	d.PackTime, d.PackBytes = time.Since(start), int64(len(e.packed.Bytes))
	return nil
}

// pack rewrites the weights into size bytes, all threads together.
func (e *Engine) pack(size int) error {
	var err error
	if e.packed, err = reserve(size, pages.Huge); err != nil {
		return err
	}
	left := e.packed.Bytes
	for _, w := range e.matrices() {
		if packedSize(w) == 0 {
			continue
		}
		w.tiles, left = left[:w.fast*w.RowBytes], left[packedSize(w):]
		step := max(1, jobBytes/(kernel.TileRows*w.RowBytes)) * kernel.TileRows
		for r := 0; r < w.fast; r += step {
			e.jobs = append(e.jobs, packJob{w, r, min(w.fast, r+step)})
		}
	}
	p := &pass{stages: []stage{{kind: packing}}, ahead: [][][]byte{make([][]byte, e.opt.Threads)}}
	p.plan = threads.NewStages([]int{len(e.jobs)}, p)
	e.cur = p
	if e.opt.Observer != nil {
		p.place()
		e.observe()
	}
	err = e.team.Run(p.plan)
	if e.opt.Observer != nil && err == nil {
		e.observed(0)
	}
	e.jobs = nil
	return err
}

// packedSize is the memory of a matrix's tiles, whole cache lines: none where it is
// not packed, which is where its tiles would be larger than its rows.
func packedSize(w *matrix) int {
	if w.format.Grows() {
		return 0
	}
	return (w.fast*w.RowBytes + 63) &^ 63
}
