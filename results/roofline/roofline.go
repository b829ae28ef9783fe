// Package roofline holds the kernels of a run on a device against what its machine
// can do at the most: how fast each reads and writes, how fast it computes, and which
// of the two limits it is nearer to by its nature (Williams, Waterman and Patterson,
// "Roofline: an insightful visual performance model", 2009).
package roofline

import (
	"cmp"
	"slices"
	"time"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/passes"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// What bounds a kernel: Kernel.Bound.
const (
	Memory     = "memory"
	Arithmetic = "arithmetic"
)

// Roofline is the kernels of a run and the limits of its machine.
type Roofline struct {
	Kernels []Kernel // the longest first
	// Memory is the most bytes that the machine reads of memory in a second, and
	// Arithmetic the most operations on float32; 0 where the run did not measure
	// them. Cache is the size of its last-level cache in bytes, 0 unknown.
	Memory, Arithmetic float64
	Cache              int64

	memory, arithmetic *recording.Limit
	processor          bool // the kernels are those of the CPU engine
}

// Kernel is what all dispatches of a kernel did.
type Kernel struct {
	// Library is "" where no pipeline tells it, as of copies. Of the CPU engine it is
	// the phase, and Name the operation and its kernel: "ffn_down mul_q8_0".
	Library, Name string
	Dispatches    int64
	Time          time.Duration // 0 where the device cannot tell
	// Read and Written are bytes of buffers, each byte once a dispatch, and Ops
	// operations on numbers; Known says that they are those of all dispatches.
	Read, Written, Ops int64
	Known              bool
	// InCache says that what its dispatches of a pass read and write, those of all
	// layers together, fits into the last-level cache: it may be quicker than memory
	// is. Of a run that does not tell its operations it is of one dispatch.
	InCache bool
	// MemoryShare and ArithmeticShare are parts of the limits, 0 where there is no
	// limit, no time, or no cost. Bound is one of the constants, or "" then.
	MemoryShare, ArithmeticShare float64
	Bound                        string
}

// BytesPerSecond is how fast it read and wrote; 0 where nobody knows.
func (k Kernel) BytesPerSecond() float64 { return k.perSecond(k.Read + k.Written) }

// OpsPerSecond is how fast it computed; 0 where nobody knows.
func (k Kernel) OpsPerSecond() float64 { return k.perSecond(k.Ops) }

func (k Kernel) perSecond(n int64) float64 {
	if !k.Known || k.Time <= 0 {
		return 0
	}
	return float64(n) / k.Time.Seconds()
}

// Intensity is how many operations it makes for a byte; 0 where nobody knows.
func (k Kernel) Intensity() float64 {
	if bytes := k.Read + k.Written; k.Known && bytes > 0 {
		return float64(k.Ops) / float64(bytes)
	}
	return 0
}

// Of is the roofline of a run. It has no kernels where the run tells of none.
func Of(run *breakdown.Run) *Roofline {
	if p := passes.Of(run); p != nil {
		return ofPasses(p)
	}
	return OfMetal(run.Metal())
}

// OfMetal is the roofline of what a run did on a device.
func OfMetal(m breakdown.Metal) *Roofline {
	r := &Roofline{}
	r.measured(m.Memory, m.Float32)
	libraries := map[string]string{}
	for _, p := range m.Pipelines {
		libraries[p.Function] = p.Library
	}
	for _, o := range m.Operations {
		libraries[o.Kernel] = cmp.Or(libraries[o.Kernel], o.Library)
	}
	touched := touched(m.Operations)
	for _, of := range m.Kernels {
		k := Kernel{Library: libraries[of.Name], Name: of.Name, Dispatches: of.Dispatches, Time: time.Duration(of.Time),
			Read: of.Read, Written: of.Written, Ops: of.Ops, Known: of.Dispatches > 0 && of.Unknown == 0 && of.Read+of.Written > 0}
		r.limit(&k, touched[of.Name])
		r.Kernels = append(r.Kernels, k)
	}
	slices.SortStableFunc(r.Kernels, func(a, b Kernel) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.Dispatches, a.Dispatches))
	})
	return r
}

// measured takes the limits that the run measured; nil where it did not.
func (r *Roofline) measured(memory, arithmetic *recording.Limit) {
	r.memory, r.arithmetic = memory, arithmetic
	if memory != nil {
		r.Memory, r.Cache = memory.Best, memory.Cache
	}
	if arithmetic != nil {
		r.Arithmetic = arithmetic.Best
		r.Cache = cmp.Or(r.Cache, arithmetic.Cache)
	}
}

// touched is how many bytes each kernel reads and writes in a pass: for each layer
// and each part of it the largest that there was, since the same is done in every
// pass, with more keys.
func touched(operations []*recording.Operation) map[string]int64 {
	type part struct {
		kernel, name string
		layer        int
	}
	largest := map[part]int64{}
	for _, o := range operations {
		p := part{o.Kernel, o.Name, o.Layer}
		largest[p] = max(largest[p], o.Read+o.Written)
	}
	out := map[string]int64{}
	for p, n := range largest {
		out[p.kernel] += n
	}
	return out
}

// limit holds a kernel to the limits, which touches so many bytes in a pass; 0 where
// only the mean of its dispatches is known.
func (r *Roofline) limit(k *Kernel, touched int64) {
	if !k.Known {
		return
	}
	if touched == 0 {
		touched = (k.Read + k.Written) / max(1, k.Dispatches)
	}
	k.InCache = r.Cache > 0 && touched <= r.Cache
	if k.Time <= 0 {
		return
	}
	if r.Memory > 0 {
		k.MemoryShare = k.BytesPerSecond() / r.Memory
	}
	if r.Arithmetic > 0 {
		k.ArithmeticShare = k.OpsPerSecond() / r.Arithmetic
	}
	switch {
	case r.Memory <= 0 || r.Arithmetic <= 0:
	case k.Intensity() < r.Arithmetic/r.Memory:
		k.Bound = Memory
	default:
		k.Bound = Arithmetic
	}
}

// Known says whether the cost of any kernel is known.
func (r *Roofline) Known() bool {
	return slices.ContainsFunc(r.Kernels, func(k Kernel) bool { return k.Known })
}

// All is all kernels as one, as far as their cost is known.
func (r *Roofline) All() Kernel {
	all := Kernel{Name: "all", Known: len(r.Kernels) > 0}
	for _, k := range r.Kernels {
		if k.Name != names.Blit {
			all.Dispatches += k.Dispatches
		}
		all.Time += k.Time
		all.Read, all.Written, all.Ops = all.Read+k.Read, all.Written+k.Written, all.Ops+k.Ops
		all.Known = all.Known && k.Known
	}
	r.limit(&all, 1<<62)
	return all
}
