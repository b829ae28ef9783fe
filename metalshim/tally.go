package metalshim

import "sync/atomic"

// Tally is what a driver keeps to answer Device.Live: it adds to it where it
// makes an object and takes from it at the object's first Release. The zero
// Tally is ready; several goroutines may use it.
type Tally struct {
	Libraries, Pipelines, Buffers, Queues, CommandBuffers, Fences, Archives atomic.Int64
	BufferBytes                                                             atomic.Int64
}

// Counts is how many there are now.
func (t *Tally) Counts() Counts {
	return Counts{
		Libraries: int(t.Libraries.Load()), Pipelines: int(t.Pipelines.Load()),
		Buffers: int(t.Buffers.Load()), Queues: int(t.Queues.Load()),
		CommandBuffers: int(t.CommandBuffers.Load()), Fences: int(t.Fences.Load()), Archives: int(t.Archives.Load()),
		BufferBytes: t.BufferBytes.Load(),
	}
}
