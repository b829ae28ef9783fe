// Package recording is the file that a run leaves behind, and its readers: JSON
// lines, one event each, appended as the run goes. docs/recording.md describes
// the format, recording.schema.json in this folder is its JSON Schema.
//
// Everything that a person or a program sees of a run is a view of these
// events: the lines on the console are made of the same events while the run
// goes on as later, when the file is shown again.
//
// A file holds one run, or a plan with many: then the events of each run, as
// the run itself wrote them, stand between a Start and an Exit of the parent
// that measured it. Times are nanoseconds on the run's own monotonic clock,
// from 0 where its recorder was made; Header.Clock ties them to the machine's.
package recording

import (
	"time"

	"github.com/introgen/introgen/trace"
)

// Format and Version stand in the header of every run. A reader refuses a
// newer version; it keeps events that it does not know as Unknown.
const (
	Format  = "introgen recording"
	Version = 1
)

// Ending is what the name of a recording ends in.
const Ending = ".introgen"

// Event is one line of a recording: *Header, *Plan, *Start, *Exit, *Span,
// *Count, *Subject, *Device, *Library, *Pipeline, *Dispatch, *Barrier, *Kernel,
// *Operation, *Executed, *Round, *Output, *Evidence, *Limit, *Machine, *Note, *End
// or *Unknown.
type Event interface {
	// Kind is the value of the line's first key, "k".
	Kind() string
}

// Header is the first event of a run.
type Header struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	Tool    Tool      `json:"tool"`
	Command string    `json:"command"`  // "cpu", "metal", "record"; of a plan "compare", "sweep", "bench" …
	Args    []string  `json:"args"`     // as given, without the program's name
	Started time.Time `json:"started"`  // by the wall clock, which may step; only to be shown
	Clock   int64     `json:"clock_ns"` // the machine's monotonic clock when this run's clock was 0; 0 where there is none
	PID     int       `json:"pid"`
	Host    Host      `json:"host"`
	Model   Model     `json:"model"` // empty of a recorded program
	// Program is what was recorded; nil where an engine of introgen ran.
	Program *Program `json:"program,omitempty"`
	Knobs   []Knob   `json:"knobs"`
	// Environment holds the variables that change what a run does (INTROGEN_*,
	// INTRO_*, CANDLE_*, GOMAXPROCS, GODEBUG …) as far as they are set.
	Environment map[string]string `json:"environment,omitempty"`
	View        View              `json:"view"`
}

// Tool is the program that ran.
type Tool struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"` // "" where it was not built from a repository
	Go      string `json:"go"`               // the Go version that built it
}

// Host is the machine. What cannot be read is empty or 0.
type Host struct {
	Name        string `json:"name,omitempty"`
	OS          string `json:"os"`       // runtime.GOOS
	Arch        string `json:"arch"`     // runtime.GOARCH
	Build       string `json:"os_build"` // kernel release, or macOS build
	CPU         string `json:"cpu"`
	Cores       int    `json:"cores"` // that this process may use
	MemoryBytes int64  `json:"memory_bytes"`
}

// Program is a process that was recorded from outside.
type Program struct {
	Path string   `json:"path"`
	Args []string `json:"args"` // without the path
	PID  int      `json:"pid"`
	// Parent is the PID of the recorded process that started this one; 0 of the one
	// that introgen started itself.
	Parent int `json:"parent,omitempty"`
}

// Model is the model file.
type Model struct {
	File   string `json:"file"` // base name
	Bytes  int64  `json:"bytes"`
	Digest string `json:"sha256,omitempty"` // "" while nobody has computed it
	Types  string `json:"types"`            // "211 Q8_0 + 61 F32"
}

// Origins of a knob's value.
const (
	FromFlag        = "flag"
	FromEnvironment = "environment"
	FromDefault     = "default"
)

// Knob is a setting of the run, whoever set it.
type Knob struct {
	Name   string `json:"name"` // the flag's name: "commands-per-buffer"
	Value  string `json:"value"`
	Origin string `json:"origin"`             // one of the From constants
	Source string `json:"variable,omitempty"` // the environment variable, where it was one
}

// Knob is the value that a setting had, and whether the header says it.
func (h *Header) Knob(name string) (value string, said bool) {
	for _, k := range h.Knobs {
		if k.Name == name {
			return k.Value, true
		}
	}
	return "", false
}

// View says how the console shows the run, so that it can be shown again.
type View struct {
	Label string `json:"label"` // what lines begin with: "cpu", "metal"
	Quiet bool   `json:"quiet,omitempty"`
	IDs   bool   `json:"ids,omitempty"`
	Trace bool   `json:"trace,omitempty"`
	Steps bool   `json:"steps,omitempty"` // each round has a line of its decode steps' percentiles
	Bench bool   `json:"bench,omitempty"` // at the end the lines that benchstat reads
}

// Plan is what a file of many runs was meant to hold. It follows the Header of
// the process that ran the plan.
type Plan struct {
	Arms    []Arm    `json:"arms"`
	Blocks  int      `json:"blocks"`          // wanted; with Until the most
	Order   string   `json:"order"`           // "random" or "abba"
	Seed    uint64   `json:"seed"`            // of the order
	Until   float64  `json:"until,omitempty"` // the width of the interval to reach, as a part of the median; 0: a fixed number
	Factors []string `json:"factors"`         // names of what arms differ in: "cache", "per-buffer"; they become parts of benchmark names
	// Coverage is what the runs of `introgen coverage --verify` were computed to need.
	Coverage *Coverage `json:"coverage,omitempty"`
}

// Arm is one way to run; a block has one run of every arm.
type Arm struct {
	Name   string            `json:"name"`             // "cold", "per-buffer=50"
	State  string            `json:"state,omitempty"`  // one of the State constants, where it claims one
	Args   []string          `json:"args"`             // of introgen
	Env    map[string]string `json:"env,omitempty"`    // beside the parent's
	Levels map[string]string `json:"levels,omitempty"` // factor → level: "cache" → "cold"
	// Cache is what the folder of compiled code holds when a run begins: "empty",
	// "half" of what is needed, or "prepared", what the runs of Prepare left in it, in
	// a folder of the run's own; "" is the user's folder as it is.
	Cache string `json:"cache,omitempty"`
	// Prepare are command lines of introgen that are run before each run, as an
	// installer would. In them and in Args {scratch} is a folder of the run's own.
	Prepare [][]string `json:"prepare,omitempty"`
}

// States that a run can claim to be in; its evidence is held against the claim.
const (
	StateCold        = "cold"         // a nonce: nothing in any cache can match
	StateColdNatural = "cold-natural" // no nonce: a cache folder that is empty, or holds a part
	StateArchive     = "archive"      // a fresh process, libraries or pipelines taken from an archive
	StateWarmCache   = "warm-cache"   // a fresh process, everything in the cache
	StateWarmProcess = "warm-process" // later rounds of a process
	StateColdFile    = "cold-file"    // the model is not in the page cache
	StateCPU         = "cpu"          // nothing to compile
)

// Start is written by a plan's parent before the events of a child run.
type Start struct {
	Run   int    `json:"run"` // from 1 in the order of execution
	Block int    `json:"block"`
	Arm   string `json:"arm"`
}

// Exit is written by a plan's parent after the events of a child run.
type Exit struct {
	Run     int   `json:"run"`
	Spawned int64 `json:"spawned_ns"` // the machine's monotonic clock right before the process was started
	Reaped  int64 `json:"reaped_ns"`  // and right after it had ended
	Code    int   `json:"code"`       // −1 where a signal ended it
	// Signal is the signal's name, Error what the parent saw go wrong.
	Signal string `json:"signal,omitempty"`
	Error  string `json:"error,omitempty"`
	// Refused says why the run does not count: what its evidence contradicts,
	// or that it failed. Flags say what taints a run that does count. Both are for
	// people: RefusedCode and Taints say the same to programs, also of recordings
	// that have the sentences alone.
	Refused     string   `json:"refused,omitempty"`
	RefusedCode string   `json:"refused_code,omitempty"` // one of the Refused constants
	Flags       []string `json:"flags,omitempty"`
	Taints      []Taint  `json:"taints,omitempty"`
	MaxRSS      int64    `json:"max_rss_bytes,omitempty"`
	// Prepared is how long each of the arm's Prepare took, as far as they came.
	Prepared []int64 `json:"prepared_ns,omitempty"`
}

// Span is a span of package trace. End is −1 as long as it is open: an open
// span is written when others must be flushed meanwhile, and once more when it
// has ended.
type Span struct{ trace.Record }

// Count is a sample of package trace.
type Count struct{ trace.Sample }

// Subject says what is measured; the line with # on the console. It stands
// before the first round, or after its first build where only the engine knows.
type Subject struct {
	IO        string `json:"io"`
	PageCache string `json:"page_cache"` // in words
	Engine    string `json:"engine"`     // "cpu: avx512, 2 threads, …"
	Tokenizer string `json:"tokenizer"`  // "go", "hf" or NoTokenizer
	// TokenizerWhy is why that one was chosen where the choice was open, as it
	// stands behind "since"; "" where it was asked for by its name.
	TokenizerWhy string `json:"tokenizer_why,omitempty"`
	// Template is which chat template the prompt was put into: NoTemplate,
	// "chatml", "the file's", or the name of a file; "" of ids, and of recordings
	// that do not say. TemplateWhy is as TokenizerWhy.
	Template    string `json:"template,omitempty"`
	TemplateWhy string `json:"template_why,omitempty"`
	// Weights is one of the Weights constants; "" where the engine has no such
	// choice.
	Weights string `json:"weights,omitempty"`
}

// TokenizerWords is which tokenizer, and why that one.
func (s *Subject) TokenizerWords() string {
	if s.TokenizerWhy == "" {
		return s.Tokenizer
	}
	return s.Tokenizer + ", since " + s.TokenizerWhy
}

// TemplateWords is which chat template, and why that one; "" where nothing is said.
func (s *Subject) TemplateWords() string {
	if s.TemplateWhy == "" {
		return s.Template
	}
	return s.Template + ", since " + s.TemplateWhy
}

// NoTemplate is the Template of a text that was taken as it is.
const NoTemplate = "none"

// NoTokenizer is the Tokenizer of a run without one, whose rounds have no text.
const NoTokenizer = "none"

// Device is the Metal device.
type Device struct {
	Driver   string `json:"driver"` // "soft" or "apple"
	Name     string `json:"name"`
	Compiler string `json:"compiler,omitempty"` // "clang 19.1.7"; of apple the language version
	System   string `json:"system,omitempty"`   // what the driver knows of it, its state too: "macOS 14.5 (23F79), …"
	Nonce    string `json:"nonce,omitempty"`
	Kernels  string `json:"kernels"`                  // "own", "candle@0.11.0", a folder
	Digest   string `json:"kernels_sha256,omitempty"` // of the kernel set's sources
}

// Library belongs to the span LIB of its ID.
type Library struct {
	Span        trace.ID `json:"span"`
	Name        string   `json:"name"`
	SourceBytes int      `json:"source_bytes"` // without the nonce
	Kernels     int      `json:"kernels"`      // functions in it
	Cache       string   `json:"cache"`        // "hit", "archive", "miss", "off", or "" where nobody can tell
}

// Pipeline belongs to the span PIPE of its ID.
type Pipeline struct {
	Span      trace.ID `json:"span"`
	Library   string   `json:"library"`
	Function  string   `json:"function"`
	Constants string   `json:"constants,omitempty"` // in words, to tell pipelines of one function apart
	Cache     string   `json:"cache"`
}

// Dispatch is one dispatch of a recorded program, within the span "encode" of its
// number; only of runs that were asked for them.
type Dispatch struct {
	Span     trace.ID `json:"span"`
	Library  string   `json:"library"`
	Function string   `json:"function"`
	Grid     [3]int64 `json:"grid"`    // threadgroups, or threads
	Group    [3]int64 `json:"group"`   // threads of one threadgroup
	Threads  bool     `json:"threads"` // whether Grid counts threads
}

// Barrier is a memory barrier between the dispatches of one encoder; only of runs
// that were asked for them.
type Barrier struct {
	Span  trace.ID `json:"span"`
	Scope string   `json:"scope"` // "buffers", "textures", "resources" …
}

// The streams of a recorded program.
const (
	StreamOut = "stdout"
	StreamErr = "stderr"
)

// Output is a write of a recorded program. Its bytes are not kept: they may be
// anything.
type Output struct {
	At     int64  `json:"at_ns"`
	Stream string `json:"stream"` // one of the Stream constants
	Bytes  int64  `json:"bytes"`
	More   int64  `json:"more,omitempty"` // how many later writes it stands for as well, whose bytes are among Bytes
}

// Kernel is the device's time in one kernel over the whole run; 0 where nobody can
// tell.
type Kernel struct {
	Name       string `json:"name"`
	Dispatches int64  `json:"dispatches"`
	Time       int64  `json:"ns"`
	// What its dispatches read and wrote of buffers, each byte once a dispatch, and
	// the operations that they made on numbers; a multiply-add is two. Unknown is how
	// many of the dispatches are not in these sums, as nobody knows.
	Read    int64 `json:"read_bytes,omitempty"`
	Written int64 `json:"written_bytes,omitempty"`
	Ops     int64 `json:"operations,omitempty"`
	Unknown int64 `json:"unknown,omitempty"`
}

// Logit is a vocabulary entry's logit.
type Logit struct {
	ID    int32   `json:"id"`
	Value float32 `json:"value"`
}

// Round is written when a round has ended, whole or not; its times are the
// spans below Span.
type Round struct {
	Number int      `json:"round"`
	Span   trace.ID `json:"span"`
	Prompt int      `json:"prompt"` // tokens
	// PromptIDs are the prompt's, of the first round that has been given one and
	// of any that was given another than the round before. Recordings of older
	// versions have none.
	PromptIDs []int32   `json:"prompt_ids,omitempty"`
	IDs       []int32   `json:"ids"`  // the new ones in order
	Text      string    `json:"text"` // of IDs
	Top       [][]Logit `json:"top,omitempty"`
	Error     string    `json:"error,omitempty"` // what cut it short
}

// Kinds of evidence.
const (
	EvidenceMetalCache = "metal cache" // Before and After: entries and bytes in the folder
	EvidencePageCache  = "page cache"  // of the model file before round Round
)

// Evidence is what a label such as cold or warm rests on.
type Evidence struct {
	What  string `json:"what"` // one of the Evidence constants
	Round int    `json:"round,omitempty"`
	// Of the Metal cache:
	LibraryHits    int          `json:"library_hits,omitempty"`
	LibraryMisses  int          `json:"library_misses,omitempty"`
	PipelineHits   int          `json:"pipeline_hits,omitempty"`
	PipelineMisses int          `json:"pipeline_misses,omitempty"`
	Unknown        int          `json:"unknown,omitempty"` // libraries and pipelines of which the driver does not say
	Archive        *Archive     `json:"archive,omitempty"` // nil where none was asked for
	Nonce          string       `json:"nonce,omitempty"`
	Folder         string       `json:"folder,omitempty"` // "" where there is none
	Before         *CacheFolder `json:"before,omitempty"`
	After          *CacheFolder `json:"after,omitempty"`
	// Of the page cache: the resident part of the file, from 0 to 1, negative
	// where it cannot be read.
	Resident float64 `json:"resident,omitempty"`
	Evicted  bool    `json:"evicted,omitempty"` // whether it was evicted right before
}

// Archive is what an archive of compiled code gave, which the run asked for beside
// the cache.
type Archive struct {
	File      string `json:"file"` // base name
	Libraries int    `json:"libraries"`
	Pipelines int    `json:"pipelines"`
	// Bytes of the file before the run and after it, 0 where there was none.
	Before int64 `json:"before_bytes"`
	After  int64 `json:"after_bytes"`
	// Missed is why it did not give the others.
	Missed []Missed `json:"missed,omitempty"`
}

// Given is how many libraries and pipelines it gave; a nil Archive gave none.
func (a *Archive) Given() int {
	if a == nil {
		return 0
	}
	return a.Libraries + a.Pipelines
}

// Missed is a number of libraries and pipelines that an archive did not give, for
// the same reason.
type Missed struct {
	Why    string `json:"why"`
	Number int    `json:"number"`
}

// CacheFolder is the state of a folder of compiled code.
type CacheFolder struct {
	Entries int    `json:"entries"`
	Bytes   int64  `json:"bytes"`
	Changed string `json:"changed,omitempty"` // RFC 3339: the latest change of an entry, where the driver tells
}

// Grew tells whether there is more or other in a folder than before.
func (f *CacheFolder) Grew(before *CacheFolder) bool {
	return f != nil && before != nil && (f.Entries != before.Entries || f.Bytes != before.Bytes)
}

// Machine is the state of the machine around a run. What cannot be read is
// negative.
type Machine struct {
	At         int64   `json:"at_ns"`       // on the run's clock
	Load       float64 `json:"load"`        // load average of one minute
	OtherCores float64 `json:"other_cores"` // cores that other processes kept busy since the last reading
	MHz        float64 `json:"mhz"`         // CPU frequency now, the mean of the cores
	Throttled  int64   `json:"throttled"`   // thermal throttle events so far
	Thermal    string  `json:"thermal,omitempty"`
}

// Note is something that was said on stderr.
type Note struct {
	Text string `json:"text"`
}

// End is the last event of a run; a run without one was cut off.
type End struct {
	At          int64  `json:"at_ns"`
	Code        int    `json:"code"` // the exit code to come
	Error       string `json:"error,omitempty"`
	MajorFaults int64  `json:"major_faults"` // page faults that waited for a disk, of the whole process; negative where unknown
	MinorFaults int64  `json:"minor_faults"`
	SpanCost    int64  `json:"span_cost_ps"` // what one span costs, measured at the end, in picoseconds
	// ModelDigest is the model's SHA-256 where it was not known when the header
	// was written. Collect puts it into the header.
	ModelDigest string `json:"model_sha256,omitempty"`
	// Of a recorded program: the signal that ended it (Code is −1 then), the most
	// memory that it took, the events that its recorder had no room for, and the
	// slots of the ring in which nothing whole was found.
	Signal    string `json:"signal,omitempty"`
	MaxRSS    int64  `json:"max_rss_bytes,omitempty"`
	Lost      int64  `json:"lost,omitempty"`
	LostSlots int64  `json:"lost_slots,omitempty"`
}

// Unknown is a line whose kind this version does not know, kept as it is.
type Unknown struct {
	Name string
	Line []byte
}

// Kind is the line's name for the event.
func (*Header) Kind() string    { return kindHeader }
func (*Plan) Kind() string      { return "plan" }      // see Event
func (*Start) Kind() string     { return "start" }     // see Event
func (*Exit) Kind() string      { return "exit" }      // see Event
func (*Span) Kind() string      { return "span" }      // see Event
func (*Count) Kind() string     { return "count" }     // see Event
func (*Subject) Kind() string   { return "subject" }   // see Event
func (*Device) Kind() string    { return "device" }    // see Event
func (*Library) Kind() string   { return "library" }   // see Event
func (*Pipeline) Kind() string  { return "pipeline" }  // see Event
func (*Dispatch) Kind() string  { return "dispatch" }  // see Event
func (*Barrier) Kind() string   { return "barrier" }   // see Event
func (*Output) Kind() string    { return "output" }    // see Event
func (*Kernel) Kind() string    { return "kernel" }    // see Event
func (*Operation) Kind() string { return "operation" } // see Event
func (*Executed) Kind() string  { return "executed" }  // see Event
func (*Round) Kind() string     { return "round" }     // see Event
func (*Evidence) Kind() string  { return "evidence" }  // see Event
func (*Limit) Kind() string     { return "limit" }     // see Event
func (*Machine) Kind() string   { return "machine" }   // see Event
func (*Note) Kind() string      { return "note" }      // see Event
func (*End) Kind() string       { return "end" }       // see Event
func (u *Unknown) Kind() string { return u.Name }
