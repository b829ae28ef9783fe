package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/metal"
	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/soft"
)

// planned has introgen's engine generate, and writes down what it asks of Metal.
func planned(ctx context.Context, o options, prompt []int32, perBuffer int) (d *did, err error) {
	set, err := kernels.Open(o.kernels)
	if err != nil {
		return nil, err
	}
	file, err := gguf.OpenWhole(o.model, gguf.MMap)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	weights, err := transformer.Load(file)
	if err != nil {
		return nil, err
	}
	driver, err := soft.Open(ctx, soft.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, driver.Close()) }()
	d = &did{}
	device, err := metal.NewDevice(ctx, &noted{driver, d}, metal.Options{CommandsPerBuffer: perBuffer, Kernels: set, Arithmetic: metal.OfCandle})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	model, err := device.New(weights)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	next, position := prompt, 0
	for range o.tokens + 1 {
		id, err := model.Step(next, position)
		if err != nil {
			return nil, err
		}
		position += len(next)
		next = []int32{id}
		d.ids = append(d.ids, id)
	}
	return d, nil
}

// noted is a device that writes down what it is asked for.
type noted struct {
	metalshim.Device
	d *did
}

func (n *noted) NewLibrary(ctx context.Context, s metalshim.Source) (metalshim.Library, error) {
	l, err := n.Device.NewLibrary(ctx, s)
	n.d.compiled = append(n.d.compiled, "LIB "+s.Name)
	return &notedLibrary{l, n.d}, err
}

type notedLibrary struct {
	metalshim.Library
	d *did
}

func (n *notedLibrary) NewPipeline(ctx context.Context, function string, constants []metalshim.Constant) (metalshim.Pipeline, error) {
	p, err := n.Library.NewPipeline(ctx, function, constants)
	text := "PIPE " + n.Name() + " " + function
	if err == nil {
		for _, c := range p.Constants() {
			text += " " + c.String()
		}
	}
	n.d.compiled = append(n.d.compiled, text)
	return p, err
}

func (n *noted) NewQueue() (metalshim.Queue, error) {
	q, err := n.Device.NewQueue()
	return &notedQueue{q, n.d}, err
}

type notedQueue struct {
	metalshim.Queue
	d *did
}

func (n *notedQueue) NewCommandBuffer() (metalshim.CommandBuffer, error) {
	c, err := n.Queue.NewCommandBuffer()
	return &notedCommands{CommandBuffer: c, d: n.d}, err
}

type notedCommands struct {
	metalshim.CommandBuffer
	d          *did
	dispatches int
}

func (n *notedCommands) add(format string, a ...any) {
	n.d.encoded = append(n.d.encoded, fmt.Sprintf(format, a...))
}

func (n *notedCommands) NewEncoder(t metalshim.DispatchType) (metalshim.Encoder, error) {
	n.add("encoder compute")
	e, err := n.CommandBuffer.NewEncoder(t)
	return &notedEncoder{Encoder: e, c: n}, err
}

func (n *notedCommands) NewBlit() (metalshim.Blit, error) {
	n.add("encoder blit")
	return n.CommandBuffer.NewBlit()
}

func (n *notedCommands) Commit() error {
	n.add("commit %d", n.dispatches)
	return n.CommandBuffer.Commit()
}

type notedEncoder struct {
	metalshim.Encoder
	c        *notedCommands
	pipeline metalshim.Pipeline
}

func (n *notedEncoder) SetPipeline(p metalshim.Pipeline) {
	n.pipeline = p
	n.Encoder.SetPipeline(p)
}

func (n *notedEncoder) MemoryBarrier(s metalshim.BarrierScope) {
	n.c.add("barrier %s", map[metalshim.BarrierScope]string{metalshim.BarrierBuffers: "buffers"}[s])
	n.Encoder.MemoryBarrier(s)
}

func (n *notedEncoder) DispatchThreadgroups(grid, group metalshim.Size) error {
	n.dispatch(grid, group, false)
	return n.Encoder.DispatchThreadgroups(grid, group)
}

func (n *notedEncoder) DispatchThreads(grid, group metalshim.Size) error {
	n.dispatch(grid, group, true)
	return n.Encoder.DispatchThreads(grid, group)
}

func (n *notedEncoder) dispatch(grid, group metalshim.Size, threads bool) {
	n.c.dispatches++
	n.c.add("%s", dispatchText(n.pipeline.Library(), n.pipeline.Name(), [3]int64{int64(grid.X), int64(grid.Y), int64(grid.Z)},
		[3]int64{int64(group.X), int64(group.Y), int64(group.Z)}, threads))
}

// dispatchText is a dispatch in words.
func dispatchText(library, function string, grid, group [3]int64, threads bool) string {
	what := "threadgroups"
	if threads {
		what = "threads"
	}
	size := func(s [3]int64) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(s), " ", ","), "[]") }
	return fmt.Sprintf("dispatch %s %s %s %s of %s", library, function, size(grid), what, size(group))
}
