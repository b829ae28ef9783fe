// Package requantize writes a GGUF file anew with its weight matrices in
// another format. Everything else stays as it is: the metadata byte for byte
// but for general.file_type, the tensors' names, order and shapes, and the
// vectors (norms, biases), which engines want in full precision. Tensors without
// elements or dimensions come last.
package requantize

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/system/files"
	"github.com/introgen/introgen/system/terminal"
)

// fileTypes maps the formats that can be written to what general.file_type says
// of a file that mostly has them (enum llama_ftype in llama.cpp's llama.h).
var fileTypes = map[quant.Type]uint32{quant.F32: 0, quant.F16: 1, quant.Q4_0: 2, quant.Q8_0: 7}

// CanWrite says whether File can write matrices as t.
func CanWrite(t quant.Type) bool {
	_, ok := fileTypes[t]
	return ok
}

// Options is what File can be told. The zero value has a meaning.
type Options struct {
	SHA256 string // that the new file must have, lower-case hex; "" is any
	Meter  *terminal.Meter
}

// Result is what a File call did.
type Result struct {
	Converted int    // tensors written in another format
	Kept      int    // tensors copied as they are
	SHA256    string // of the new file, lower-case hex
}

// ErrMismatch is what errors.Is finds where the new file has another digest
// than Options.SHA256.
var ErrMismatch = errors.New("not the expected bytes")

// File reads the GGUF file at in and writes it to out with its matrices as to,
// one of F32, F16, Q4_0 and Q8_0. out gets its name when it is whole, and may
// be in itself. A matrix whose rows do not fill whole blocks of to is kept. An
// error names the file and the tensor.
func File(ctx context.Context, in, out string, to quant.Type, o Options) (Result, error) {
	if !CanWrite(to) {
		return Result{}, fmt.Errorf("requantize to %v: only Q8_0, Q4_0, F16 and F32 can be written", to)
	}
	f, err := gguf.Open(in, gguf.MMap)
	if err != nil {
		return Result{}, err
	}
	defer f.Close()
	if err := f.CheckWhole(); err != nil {
		return Result{}, err
	}
	old := slices.Concat(f.Tensors, f.Skipped)
	tensors, r, err := plan(old, to)
	if err != nil {
		return Result{}, fmt.Errorf("requantize %s: %w", in, err)
	}
	dst, err := files.Create(out, files.Options{})
	if err != nil {
		return Result{}, err
	}
	defer dst.Discard()
	var size int64
	for i := range tensors {
		size += span(tensors[i].Type, tensors[i].Elements())
	}
	step := o.Meter.Start("requantize to "+to.String(), size)
	sum := sha256.New()
	err = write(ctx, io.MultiWriter(dst, sum), f, fileTypes[to], old, tensors, step)
	r.SHA256 = hex.EncodeToString(sum.Sum(nil))
	switch {
	case err != nil:
		err = fmt.Errorf("requantize %s: %w", in, err)
	case o.SHA256 != "" && o.SHA256 != r.SHA256:
		err = fmt.Errorf("requantize %s: %w: SHA-256 %s instead of %s", in, ErrMismatch, r.SHA256, o.SHA256)
	default:
		err = dst.Commit()
	}
	step.Done(err)
	if err != nil {
		return Result{}, err
	}
	return r, nil
}

// plan returns the tensors of the new file: the old ones, in their order, with the
// types that they will have.
func plan(old []gguf.Tensor, to quant.Type) ([]gguf.Tensor, Result, error) {
	var r Result
	tensors := slices.Clone(old)
	for i := range tensors {
		t := &tensors[i]
		typ, err := newType(t, to)
		if err != nil {
			return nil, Result{}, err
		}
		if typ == t.Type {
			r.Kept++
		} else {
			r.Converted++
			t.Type = typ
		}
	}
	return tensors, r, nil
}

// newType is the type that t has in the new file.
func newType(t *gguf.Tensor, to quant.Type) (quant.Type, error) {
	per, _ := to.Block()
	if len(t.Dims) < 2 || t.Elements() == 0 || t.Type == to || t.Dims[0]%uint64(per) != 0 {
		return t.Type, nil
	}
	if !t.Type.CanDecode() {
		return 0, fmt.Errorf("tensor %q is %v, which cannot be decoded; take a file of another format", t.Name, t.Type)
	}
	return to, nil
}

// chunk is the elements that a worker takes at once: a multiple of every
// format's block, and few enough that its buffers stay in the L2 cache.
const chunk = 1 << 16

// job is elements [from, to) of a tensor. The worker that takes it sends the
// bytes that they have in the new file, or nothing after a failure.
type job struct {
	tensor   *gguf.Tensor // in the old file
	typ      quant.Type   // in the new one
	from, to int64
	out      chan []byte
}

// write writes the new file: the workers convert, and their results are written
// in the file's order. The jobs that wait to be written are few, so that memory
// stays small however large the file is.
func write(ctx context.Context, dst io.Writer, f *gguf.File, fileType uint32, old, tensors []gguf.Tensor, step *terminal.Step) error {
	w, err := gguf.NewWriter(dst, f, fileType, tensors)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	n := runtime.GOMAXPROCS(0)
	jobs, ordered := make(chan job), make(chan job, 4*n)
	var workers sync.WaitGroup
	for range n {
		workers.Go(func() {
			if err := gguf.Fault(func() error { return work(f, jobs) }); err != nil {
				cancel(err)
			}
		})
	}
	workers.Go(func() { feed(ctx, old, tensors, jobs, ordered) })
	err = collect(ctx, w, ordered, step)
	cancel(err)
	workers.Wait()
	if err != nil {
		return err
	}
	return w.Close()
}

// feed hands all jobs to the workers, and in the same order to the collector,
// or stops when ctx ends.
func feed(ctx context.Context, old, tensors []gguf.Tensor, jobs, ordered chan<- job) {
	defer close(ordered)
	defer close(jobs)
	for i := range tensors {
		n := tensors[i].Elements()
		for from := int64(0); from < n; from += chunk {
			j := job{&old[i], tensors[i].Type, from, min(from+chunk, n), make(chan []byte, 1)}
			select {
			case ordered <- j:
			case <-ctx.Done():
				return
			}
			select {
			case jobs <- j:
			case <-ctx.Done():
				return
			}
		}
	}
}

// collect writes the results of the jobs in their order.
func collect(ctx context.Context, w io.Writer, ordered <-chan job, step *terminal.Step) error {
	for j := range ordered {
		select {
		case b := <-j.out:
			if _, err := w.Write(b); err != nil {
				return err
			}
			step.Add(int64(len(b)))
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return context.Cause(ctx)
}

// work does jobs until there are no more. It reads the tensors from the mapping,
// so it runs inside gguf.Fault.
func work(f *gguf.File, jobs <-chan job) error {
	floats := make([]float32, chunk)
	for j := range jobs {
		b, err := convert(f, j, floats)
		if err != nil {
			return err
		}
		j.out <- b
	}
	return nil
}

// convert returns the bytes of j's elements in the new file. floats has room
// for a chunk.
func convert(f *gguf.File, j job, floats []float32) ([]byte, error) {
	data, err := f.Data(j.tensor)
	if err != nil {
		return nil, err
	}
	src := data[span(j.tensor.Type, j.from):span(j.tensor.Type, j.to)]
	if j.typ == j.tensor.Type {
		return bytes.Clone(src), nil // out of the mapping, while faults are caught
	}
	floats = floats[:j.to-j.from]
	dst := make([]byte, span(j.typ, j.to-j.from))
	if err = quant.Dequantize(floats, j.tensor.Type, src); err == nil {
		err = quant.Quantize(dst, j.typ, floats)
	}
	if err != nil {
		return nil, fmt.Errorf("tensor %q, from element %d on: %w", j.tensor.Name, j.from, err)
	}
	return dst, nil
}

// span is the bytes of n elements of t, which fill whole blocks.
func span(t quant.Type, n int64) int64 {
	per, size := t.Block()
	return n / int64(per) * int64(size)
}
