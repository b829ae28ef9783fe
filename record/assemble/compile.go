package assemble

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/recorder"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// call is a call of a compiler that has begun.
type call struct {
	span   *span
	own    bool // it lies on its thread's stack
	digest string
	path   string
	with   function
}

// library is one that was made, whose name may come later.
type library struct {
	name string // "" while nobody knows
	file string // that has the source, or that was opened
	span *span
	at   time.Duration // when it was made
}

// function is one that was taken from a library.
type function struct {
	library *library
	name    string
	with    []constant
}

// title is how a function is called among those of all libraries.
func (f function) title() string {
	return f.of() + " " + f.name
}

// unknown stands for what a pipeline or a dispatch is of, where nobody knows.
const unknown = "?"

// of is the name of its library.
func (f function) of() string {
	if f.library == nil {
		return unknown
	}
	return cmp.Or(f.library.name, unknown)
}

// constant is a function constant, by index or by name.
type constant struct {
	metalshim.Constant
	name string // "" of one by index
}

func (c constant) compare(other constant) int {
	return cmp.Or(cmp.Compare(c.Index, other.Index), cmp.Compare(c.name, other.name))
}

// String is "10:bool=1" or "name:bool=1".
func (c constant) String() string {
	text := c.Constant.String()
	if c.name == "" {
		return text
	}
	return c.name + text[len(strconv.Itoa(c.Index)):]
}

// pipeline is one that was made.
type pipeline struct{ function function }

// longestWait is how long a library that was made waits for a name.
const longestWait = time.Second

// noLibrary is what a library is called of which nothing is known.
const noLibrary = "library"

func (p *Process) compiled(e recorder.Event, at time.Duration) {
	switch e.Kind {
	case recorder.LibraryBegin:
		p.beginLibrary(e, at)
	case recorder.LibraryEnd:
		p.endLibrary(e, at)
	case recorder.Constant:
		p.constant(e)
	case recorder.Function:
		p.take(e)
	case recorder.PipelineBegin:
		p.beginPipeline(e, at)
	case recorder.PipelineEnd:
		p.endPipeline(e, at)
	case recorder.Label:
		if l := p.libraries[e.Object]; l != nil && l.span.wanted && e.Text != "" {
			p.name(l, e.Text)
		}
	}
	p.nameOld(at)
}

// asynchronous is the flag of a compiler that calls back.
const asynchronous = 1

// beginCall opens the span of a compiler.
func (p *Process) beginCall(e recorder.Event, at time.Duration, name, detail string, n int64) *call {
	c := &call{own: e.D&asynchronous == 0}
	if c.own {
		c.span = p.push(e.Thread, name, detail, n, at)
	} else {
		c.span = p.begin(phaseOf(p.phase), name, detail, n, at, open)
		c.span.record.Track = p.lane(c.span)
	}
	p.calls[e.Object] = c
	return c
}

// endCall closes it; nil where its begin was lost.
func (p *Process) endCall(e recorder.Event) *call {
	c := p.calls[e.Object]
	delete(p.calls, e.Object)
	return c
}

func (p *Process) over(c *call, at time.Duration) {
	if c.own {
		p.pop(c.span, at)
		return
	}
	if s := c.span; s.in.phase && (s.in != p.phase || at < p.phase.record.Start) {
		s.in = p.round // its phase is over
	}
	p.close(c.span, at)
}

// withNonce is the flag of a source to which a nonce was added.
const withNonce = 2

// fromSource is enum library_form of a text that is compiled.
const fromSource = 1

func (p *Process) beginLibrary(e recorder.Event, at time.Duration) {
	c := p.beginCall(e, at, names.SpanLibrary, "", int64(e.C))
	c.span.wanted = true
	if e.B == fromSource {
		p.sources++
		nonce := ""
		if e.D&withNonce != 0 {
			p.nonced++
			nonce = p.o.Nonce
		}
		p.tellDevice(nonce)
		c.digest, _, _ = strings.Cut(e.Text, " ")
		return
	}
	c.path = e.Text
}

func (p *Process) endLibrary(e recorder.Event, at time.Duration) {
	c := p.endCall(e)
	if c == nil {
		return
	}
	l := &library{span: c.span, at: at}
	if c.digest != "" && p.o.Known != nil {
		l.file = p.o.Known(c.digest)
	}
	if c.path != "" {
		l.file = path.Base(c.path)
	}
	p.over(c, at)
	state := cacheState(e.C)
	if e.A != 0 || state != "" { // of what failed nobody asks where it came from
		p.count(state, &p.evidence.LibraryHits, &p.evidence.LibraryMisses)
	}
	c.span.tells = &recording.Library{SourceBytes: int(c.span.record.N), Kernels: int(e.B), Cache: state}
	if e.A == 0 { // it failed
		p.name(l, cmp.Or(l.file, noLibrary))
		p.o.Put(&recording.Note{Text: fmt.Sprintf("the library %s could not be made: %s", l.name, firstLine(e.Text))})
		return
	}
	p.libraries[e.A] = l
	if e.Text != "" {
		p.name(l, e.Text)
		return
	}
	p.unnamed = append(p.unnamed, l)
}

// name gives a library its name, once and for all, and writes it.
func (p *Process) name(l *library, name string) {
	l.name = name
	l.span.record.Detail = name
	l.span.wanted = false
	p.unnamed = slices.DeleteFunc(p.unnamed, func(other *library) bool { return other == l })
	p.write(l.span)
}

// nameOld names libraries that have waited for long.
func (p *Process) nameOld(at time.Duration) {
	for len(p.unnamed) > 0 && p.unnamed[0].at+longestWait < at {
		p.nameAs(p.unnamed[0], "")
	}
}

// nameAll names all libraries: work begins that needs none any more.
func (p *Process) nameAll() {
	for len(p.unnamed) > 0 {
		p.nameAs(p.unnamed[0], "")
	}
}

// nameAs names a library by its file, or else by the function that was taken from it.
func (p *Process) nameAs(l *library, function string) {
	p.name(l, cmp.Or(l.file, function, noLibrary))
}

// constant takes a value of a MTLFunctionConstantValues, or that it has none.
func (p *Process) constant(e recorder.Event) {
	if e.A == 0 {
		delete(p.constants, e.Object)
		return
	}
	v := constant{metalshim.Constant{Index: int(uint32(e.B)), Type: metalshim.ConstantType(uint32(e.A)), Bits: e.C}, e.Text}
	all := p.constants[e.Object]
	i, there := slices.BinarySearchFunc(all, v, constant.compare)
	if there {
		all[i] = v
		return
	}
	p.constants[e.Object] = slices.Insert(all, i, v)
}

func (p *Process) take(e recorder.Event) {
	if e.Object == 0 {
		return
	}
	f := function{library: p.libraries[e.A], name: e.Text}
	if e.B != 0 {
		f.with = slices.Clone(p.constants[e.B])
	}
	p.functions[e.Object] = f
	if l := f.library; l != nil && l.name == "" {
		p.nameAs(l, f.name)
	}
}

func (p *Process) beginPipeline(e recorder.Event, at time.Duration) {
	f, known := p.functions[e.A]
	if !known {
		f.name = cmp.Or(e.Text, "pipeline")
	}
	c := p.beginCall(e, at, names.SpanPipeline, f.title(), int64(len(f.with)))
	c.with = f
}

func (p *Process) endPipeline(e recorder.Event, at time.Duration) {
	c := p.endCall(e)
	if c == nil {
		return
	}
	state := cacheState(e.C)
	if e.A != 0 || state != "" {
		p.count(state, &p.evidence.PipelineHits, &p.evidence.PipelineMisses)
	}
	c.span.tells = &recording.Pipeline{Library: c.with.of(), Function: c.with.name, Constants: constantsText(c.with.with), Cache: state}
	p.over(c, at)
	if e.A == 0 {
		p.o.Put(&recording.Note{Text: fmt.Sprintf("the pipeline %s could not be made: %s", c.with.title(), firstLine(e.Text))})
		return
	}
	p.pipelines[e.A] = &pipeline{c.with}
}

// cacheState is what the recorder says of a cache, in a recording's words.
func cacheState(n uint64) string {
	switch n {
	case 1:
		return names.CacheHit
	case 2:
		return names.CacheMiss
	case 3:
		return names.CacheOff
	}
	return names.CacheUnknown
}

func (p *Process) count(state string, hits, misses *int) {
	switch state {
	case names.CacheHit:
		*hits++
	case names.CacheUnknown:
		p.evidence.Unknown++
	default:
		*misses++
	}
}

// firstLine is the first line of a text of any length, and where that only leads to
// what follows ("Compilation failed:") the next with it.
func firstLine(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if line = strings.TrimSpace(line); strings.HasSuffix(line, ":") {
		next, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
		line = strings.TrimSpace(line + " " + next)
	}
	return line
}
