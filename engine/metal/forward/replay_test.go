package forward

import (
	"encoding/hex"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/metal/commandbuffer"
	"github.com/introgen/introgen/engine/metal/pool"
	"github.com/introgen/introgen/metalshim"
)

// smol is the model of the reference trace.
func smol() Config { return Experiment() }

func planner(t *testing.T, c Config) *Planner {
	t.Helper()
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// replay does with steps what an engine does, on no device: it gives out
// buffers by the pool's rule, counts commands and finds barriers, and writes
// an event for each thing it would ask of Metal, in the words of
// scripts/reference/candletrace. It stands for a device that allows 1024
// threads in a threadgroup.
type replay struct {
	t       *testing.T
	counter commandbuffer.Counter
	hazards commandbuffer.Hazards
	private pool.Pool[string]
	shared  pool.Pool[string]
	bufs    map[Buf]*pool.Item[string]
	seen    map[string]bool // libraries and pipelines
	encoder bool            // a compute encoder is open
	made    int
	number  map[string]int
	events  []string
	waits   int
}

func newReplay(t *testing.T, perBuffer int) *replay {
	return &replay{
		t: t, counter: commandbuffer.Counter{PerBuffer: perBuffer},
		bufs: map[Buf]*pool.Item[string]{}, seen: map[string]bool{}, number: map[string]int{},
	}
}

func (r *replay) event(format string, args ...any) {
	r.events = append(r.events, fmt.Sprintf(format, args...))
}

func (r *replay) name() string {
	r.made++
	name := fmt.Sprintf("b%d", r.made)
	r.number[name] = r.made
	return name
}

func (r *replay) run(steps iter.Seq[*Step]) {
	for s := range steps {
		r.do(s)
	}
}

func (r *replay) do(s *Step) {
	switch s.Op {
	case Upload, UploadWeight, UploadExpanded:
		if r.bufs[s.Buf] != nil {
			r.t.Fatalf("buffer %d is uploaded twice", s.Buf)
		}
		name := r.name()
		r.event("upload %s %d", name, s.Bytes)
		r.bufs[s.Buf] = r.shared.Add(s.Bytes, name)
	case Alloc:
		r.take(&r.private, s, "private")
	case Stage:
		r.take(&r.shared, s, "shared")
	case Free:
		r.get(s.Buf).Free()
		delete(r.bufs, s.Buf)
	case Run:
		r.dispatch(s.Dispatch)
	case Copy:
		r.op()
		r.encoder = false
		r.event("encoder blit")
		if s.Offset == 0 && s.SrcOffset == 0 {
			r.event("copy %s %s %d", r.get(s.Src).Buffer, r.get(s.Buf).Buffer, s.Bytes)
		} else {
			r.event("copyat %s+%d %s+%d %d", r.get(s.Src).Buffer, s.SrcOffset, r.get(s.Buf).Buffer, s.Offset, s.Bytes)
		}
	case Fill:
		r.op()
		r.encoder = false
		r.event("encoder blit")
		r.event("fill %s 0 %d 0", r.get(s.Buf).Buffer, r.get(s.Buf).Size)
	case Wait:
		r.commit()
		r.wait()
	case Synchronize:
		if r.counter.Pending() {
			r.commit()
			r.wait()
		}
		r.sweep()
	case Take:
		r.get(s.Src)
	default:
		r.t.Fatalf("unknown step %v", s.Op)
	}
}

func (r *replay) get(b Buf) *pool.Item[string] {
	r.t.Helper()
	i := r.bufs[b]
	if i == nil {
		r.t.Fatalf("buffer %d is used but not live", b)
	}
	return i
}

func (r *replay) take(p *pool.Pool[string], s *Step, mode string) {
	if r.bufs[s.Buf] != nil {
		r.t.Fatalf("buffer %d is made twice", s.Buf)
	}
	item := p.Take(s.Bytes)
	if item == nil {
		name := r.name()
		r.event("new %s %d %s", name, pool.Class(s.Bytes), mode)
		item = p.Add(pool.Class(s.Bytes), name)
	}
	r.bufs[s.Buf] = item
}

func (r *replay) op() {
	if r.counter.Op() {
		r.event("commit")
		r.encoder = false
	}
}

func (r *replay) commit() {
	r.event("commit")
	r.counter.Flushed()
	r.encoder = false
}

func (r *replay) wait() {
	r.waits++
	r.event("wait")
	r.sweep()
}

func (r *replay) sweep() {
	r.private.Sweep(func(string) {})
	r.shared.Sweep(func(string) {})
}

func (r *replay) dispatch(d *Dispatch) {
	if !d.Joined {
		r.op()
	}
	if !r.encoder {
		r.encoder = true
		r.event("encoder compute")
		r.hazards.Reset()
	}
	if !r.seen[d.Library] {
		r.seen[d.Library] = true
		r.event("lib %s", d.Library)
	}
	pipe := "pipe " + d.Function
	for _, c := range d.Constants {
		if c.Type != metalshim.Bool {
			r.t.Errorf("%s: constant %v is no bool", d.Function, c)
		}
		pipe += fmt.Sprintf(" %d=%d", c.Index, c.Bits)
	}
	if !r.seen[pipe] {
		r.seen[pipe] = true
		r.event("%s", pipe)
	}
	grid, group, inThreads := d.Extent.Sizes(1024)
	line := fmt.Sprintf("run %s %s %s %s %d", d.Function, map[bool]string{false: "groups", true: "threads"}[inThreads], size(grid), size(group), d.ThreadgroupBytes)
	for _, a := range d.Args {
		if a.Buf == 0 {
			line += fmt.Sprintf(" %d=%s", a.Index, hex.EncodeToString(a.Data))
			continue
		}
		name := r.get(a.Buf).Buffer
		line += fmt.Sprintf(" %d=%s+%d", a.Index, name, a.Offset)
		if a.Out {
			r.hazards.Write(r.number[name])
		} else {
			r.hazards.Read(r.number[name])
		}
	}
	if r.hazards.Barrier() {
		r.event("barrier")
	}
	r.event("%s", line)
}

func size(s metalshim.Size) string { return fmt.Sprintf("%d,%d,%d", s.X, s.Y, s.Z) }

// counts tells how often each kind of event occurs, and each function runs.
func counts(events []string) map[string]int {
	c := map[string]int{}
	for _, e := range events {
		f := strings.Fields(e)
		c[f[0]]++
		switch f[0] {
		case "run":
			c[f[1]]++
		case "encoder", "new":
			c[f[0]+" "+f[len(f)-1]]++
		}
	}
	return c
}

// renamed writes the buffers of events as #1, #2 … in the order in which they
// were made, so that two traces with different names compare.
func renamed(t *testing.T, events []string) []string {
	t.Helper()
	names := map[string]string{}
	rename := func(s string) string {
		name, offset, _ := strings.Cut(s, "+")
		n, ok := names[name]
		if !ok {
			t.Fatalf("buffer %s is used before it is made", name)
		}
		return n + "+" + offset
	}
	var out []string
	for _, e := range events {
		f := strings.Fields(e)
		switch f[0] {
		case "upload", "new":
			names[f[1]] = "#" + strconv.Itoa(len(names)+1)
			f[1] = names[f[1]]
		case "copy", "copyat":
			f[1], f[2] = rename(f[1]), rename(f[2])
		case "fill":
			f[1] = rename(f[1])
		case "run":
			for i := 6; i < len(f); i++ {
				index, value, _ := strings.Cut(f[i], "=")
				if strings.HasPrefix(value, "b") && strings.Contains(value, "+") {
					f[i] = index + "=" + rename(value)
				}
			}
		}
		out = append(out, strings.Join(f, " "))
	}
	return out
}
