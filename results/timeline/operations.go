package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// operations puts what a device computed below its command buffers, and what the
// threads of the CPU engine computed on tracks of theirs.
func (l *layout) operations() {
	known := make(map[int]*recording.Operation, len(l.run.Operations))
	for _, o := range l.run.Operations {
		known[o.ID] = o
	}
	threads, untimed := map[int]string{}, 0
	cut, cutTime := 0, time.Duration(0)
	for _, e := range l.run.Executed {
		in := l.of[e.Span]
		if in == nil {
			continue // the reader has told of it
		}
		if !e.Timed() {
			in.Args = append(in.Args, text("operations", l.inOrder(e, known)))
			untimed += len(e.Operations)
			continue
		}
		track, parent := trackDevice, in
		if in.Kind != names.SpanGPU {
			track, parent = fmt.Sprintf("%s %d", trackThread, e.Track), nil
			threads[e.Track] = track
		}
		last := in.Start
		for i, id := range e.Operations {
			o := known[id]
			if o == nil {
				continue
			}
			start := time.Duration(e.Start[i]) + l.offset
			end := start + time.Duration(e.Time[i])
			// Clocks that are read one after the other differ by so little that it
			// is no other order.
			from, to := min(max(start, last), in.End), min(max(end, last), in.End)
			if from != start || to != end {
				cut, cutTime = cut+1, cutTime+(end-start)-(to-from)
			}
			last = to
			s := &Slice{Name: short(o.Name), Kind: KindOperation, Start: from, End: to, in: parent}
			if parent != nil {
				s.Name = short(o.Kernel)
			}
			s.Args = costs(o, parent != nil)
			l.add(track, s)
		}
	}
	for _, t := range slices.Sorted(maps.Keys(threads)) {
		if !slices.Contains(l.order, threads[t]) {
			l.order = append(l.order, threads[t])
		}
	}
	if cut > 0 {
		l.note("%s: %d operations reach out of their command buffer or pass, or into the one before, as clocks that are read one after the other do: they are cut there, by %v together", l.p.Name, cut, cutTime)
	}
	if untimed > 0 {
		l.note("%s: of %d operations it is known in which command buffer they ran, and not when: the command buffer names them", l.p.Name, untimed)
	}
}

// costs are what is known of an operation beside the name of its slice.
func costs(o *recording.Operation, device bool) []Arg {
	var out []Arg
	if o.Layer != recording.NoLayer {
		out = append(out, number("layer", int64(o.Layer)))
	}
	if device {
		out = append(out, text("operation", o.Name))
	} else {
		out = append(out, text("kernel", o.Kernel))
	}
	if o.Library != "" {
		out = append(out, text("library", o.Library))
	}
	if o.Unknown {
		return append(out, text("bytes", "unknown"))
	}
	return append(out, number("read bytes", o.Read), number("written bytes", o.Written), number("arithmetic", o.Ops))
}

// inOrder are the kernels that ran, the most frequent first.
func (l *layout) inOrder(e *recording.Executed, known map[int]*recording.Operation) string {
	count := map[string]int{}
	for _, id := range e.Operations {
		if o := known[id]; o != nil {
			count[o.Kernel]++
		}
	}
	kernels := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	for i, k := range kernels {
		kernels[i] = fmt.Sprintf("%d × %s", count[k], k)
	}
	return strings.Join(kernels, ", ")
}
