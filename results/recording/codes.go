package recording

// What a program decides by stands in a recording as a code; the sentence beside
// it is for people, and is read by nobody again.

// Why a run of a plan does not count: Exit.RefusedCode. Exit.Refused says it in a
// sentence.
const (
	RefusedHung        = "hung"        // it had not ended in time
	RefusedSignal      = "signal"      // a signal ended it
	RefusedStart       = "start"       // it could not be started
	RefusedExit        = "exit"        // its exit code was not 0
	RefusedRecording   = "recording"   // its recording cannot be used, or says that it failed
	RefusedEvidence    = "evidence"    // what it recorded contradicts the state that its arm claims
	RefusedInterrupted = "interrupted" // the plan was
)

// Taint is what taints a run that counts.
type Taint struct {
	Code  string  `json:"code"`  // one of the Taint constants
	Value float64 `json:"value"` // how much: of each code below what it is a number of
	Text  string  `json:"text"`  // the figures in words
}

// The codes of taints.
const (
	TaintLoad      = "load"      // other processes used the processors: how many of them
	TaintFrequency = "frequency" // the clock was not that of the runs before: MHz
	TaintThrottled = "throttled" // the processor was slowed down for its heat: how often
	TaintIdle      = "idle"      // nothing ran between two passes: for how many milliseconds
	TaintFile      = "file"      // the model was not in memory, and was not evicted either: which part was
)

// String is the taint as Exit.Flags has it.
func (t Taint) String() string {
	if t.Text == "" {
		return t.Code
	}
	return t.Code + ": " + t.Text
}

// Taint adds what taints the run.
func (x *Exit) Taint(taints ...Taint) {
	for _, t := range taints {
		x.Taints = append(x.Taints, t)
		x.Flags = append(x.Flags, t.String())
	}
}

// How the CPU engine holds the weights: Subject.Weights.
const (
	WeightsPacked = "packed" // rewritten when the model is built, for quicker steps
	WeightsStored = "stored" // read as the file has them
)

// Coverage is what `introgen coverage --verify` computed of its runs before it
// made them.
type Coverage struct {
	Full   Foretold `json:"full"`
	WarmUp Foretold `json:"warm_up"`
	// Smallest is the smallest warm-up that covers the full run; its needs are
	// not told.
	Smallest Foretold `json:"smallest"`
}

// Foretold is a generation and the pipelines that it needs.
type Foretold struct {
	Prompt int    `json:"prompt"` // tokens
	Steps  int    `json:"steps"`  // decode steps
	Needs  []Need `json:"needs,omitempty"`
}

// Need is a pipeline, and with it its library, in the order of first use.
type Need struct {
	Library   string `json:"library"`
	Function  string `json:"function"`
	Constants string `json:"constants,omitempty"` // as Pipeline has them
	Phase     string `json:"phase"`               // in which it is first needed: SpanBuild, SpanPrefill or SpanStep
	Step      int    `json:"step,omitempty"`      // the number of the decode step
}
