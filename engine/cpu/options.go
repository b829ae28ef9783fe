package cpu

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/introgen/introgen/engine/cpu/kernel"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/system/machine"
)

// SetEnv names the environment variable that chooses the instruction set.
const SetEnv = "INTROGEN_CPU"

// MaxThreads bounds Options.Threads: a typing error must not start ten thousand
// threads.
const MaxThreads = 256

// maxContext is the number of positions that an engine is built for when nobody
// says how many are needed. The cache is reserved, not touched, for them.
const maxContext = 8192

// Pack says whether weights are rewritten when a model is loaded.
type Pack int

const (
	// PackAuto packs where Options.Steps promises that it repays.
	PackAuto Pack = iota
	// PackOff reads the weights where the file lies in memory.
	PackOff
	// PackOn rewrites them in the order in which the kernels read them, in huge
	// pages: slower to load, faster to run, and a second copy in memory.
	PackOn
)

// Options are the choices of New; the zero value takes the default of each.
type Options struct {
	// Threads is 1 to MaxThreads; 0 takes DefaultThreads.
	Threads int
	// Context is the number of positions, at most the model's own; 0 takes the
	// model's own, and 8192 where that is larger. A number is taken as what will
	// be used: a cache for which there is no memory is refused then.
	Context int
	// Positions is how many positions will be used, as far as the caller knows; 0
	// takes Context. Models that turn heads otherwise in a long text than in a
	// short one (LongRoPE) are turned for as many.
	Positions int
	// Set is the instruction set: one of kernel.Names. "" takes $INTROGEN_CPU,
	// and where that is not set the best one.
	Set string
	// Pack says whether to rewrite the weights.
	Pack Pack
	// Steps is how many decode steps the engine will be asked for, as far as the
	// caller knows: what PackAuto decides on.
	Steps int
	// Cancelled is asked before every chunk of 64 tokens, since a long prompt
	// takes many seconds; its error ends the Step. It may be nil.
	Cancelled func() error
	// Observer is told what the threads do and when. nil, the default, costs nothing.
	Observer Observer
}

const (
	// repaySteps is the number of decode steps after which packing has repaid
	// its time: on an idle machine it takes as long as 8 steps, and saves a
	// twelfth to a third of each; on a busy one it takes longer.
	repaySteps = 100
	// unaskedBytes is the most memory that PackAuto takes for a second copy of
	// the weights.
	unaskedBytes = 2 << 30
)

// Description says what an engine chose, for people.
type Description struct {
	Set     string // instruction set: "avx512", "avx2", "dotprod", "neon", "generic"
	Threads int
	Context int // positions

	Packed    bool
	Why       string        // why weights are packed or not
	PackBytes int64         // memory of the packed weights
	PackTime  time.Duration // what packing took

	// Slow says, a type each, which weights have no fast kernel: they are
	// dequantized row by row. Empty when all are fast.
	Slow []string
}

// String writes the description as one line.
func (d Description) String() string {
	s := d.Set + ", " + figures.Number(d.Threads, "thread") + ", " + d.Why
	if d.Packed {
		s += fmt.Sprintf(" (%s MB in %s ms)", figures.Text(float64(d.PackBytes)/1e6, 1), figures.Milliseconds(d.PackTime))
	}
	if len(d.Slow) > 0 {
		s += ", no fast kernel for " + strings.Join(d.Slow, ", ")
	}
	return s
}

// DefaultThreads returns the number of physical cores that this process may
// use.
func DefaultThreads() int {
	return max(1, min(machine.PhysicalCores(), runtime.GOMAXPROCS(0), MaxThreads))
}

// Positions is how many positions a pass over a model of an architecture can reach whose
// file says context, and whose limit that is, in words that can end an error.
func Positions(architecture string, context int) (positions int, whose string) {
	return context, contextLimit(architecture, context, context, true)
}

// contextLimit says whose limit a context is, of a model whose file says own. asked
// says that the caller has asked for it.
func contextLimit(architecture string, context, own int, asked bool) string {
	switch {
	case context == own:
		return fmt.Sprintf("the model's file allows no more (%s.context_length %d)", architecture, own)
	case !asked:
		return fmt.Sprintf("that is introgen's limit, which reserves memory for no more, and not the model's, whose file allows %d", own)
	}
	return fmt.Sprintf("the engine was made for no more, and the model's file allows %d", own)
}

// settle checks the options against the model and fills in the defaults.
func (o *Options) settle(m *transformer.Model) (*kernel.Set, error) {
	switch {
	case o.Threads < 0 || o.Threads > MaxThreads:
		return nil, fmt.Errorf("threads: %d; allowed are 1 to %d, or 0 for one a core", o.Threads, MaxThreads)
	case o.Context < 0 || o.Context > m.Context:
		return nil, fmt.Errorf("context: %d positions; the model has 1 to %d", o.Context, m.Context)
	case o.Positions < 0:
		return nil, fmt.Errorf("positions: %d; allowed are 1 and more, or 0 for as many as the context has", o.Positions)
	case o.Pack < PackAuto || o.Pack > PackOn:
		return nil, fmt.Errorf("pack: %d; allowed are PackAuto, PackOff and PackOn", o.Pack)
	}
	if o.Threads == 0 {
		o.Threads = DefaultThreads()
	}
	if o.Context == 0 {
		o.Context = min(m.Context, maxContext)
	}
	if o.Positions == 0 {
		o.Positions = o.Context
	}
	if o.Set != "" {
		set, err := kernel.Pick(o.Set)
		if err != nil {
			return nil, fmt.Errorf("instruction set: %w", err)
		}
		return set, nil
	}
	set, err := kernel.Pick(os.Getenv(SetEnv))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", SetEnv, err)
	}
	return set, nil
}
