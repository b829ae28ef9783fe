package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/introgen/introgen/bench"
	"github.com/introgen/introgen/engine"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/results/console"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/system/machine"
	"github.com/introgen/introgen/system/terminal"
	"github.com/introgen/introgen/trace/names"
	"github.com/urfave/cli/v2"
)

// maxRounds is far beyond any use and keeps a slip of the finger from running on
// and on.
const maxRounds = 100_000

// generatedModel is what --model takes of a command that generates.
const generatedModel = aModel + " (default: the experiment's or its stand-in)"

// generateFlags are those of every command that generates tokens.
func generateFlags() []cli.Flag {
	return append(slices.Concat(outputFlags(), disturbFlags(), []cli.Flag{modelFlag(generatedModel)}, promptFlags("what to ask")),
		&cli.IntFlag{Name: promptTokens, Usage: "make the prompt `N` tokens long: its ids are repeated, or cut", DefaultText: "as many as it has"},
		tokensFlag("decode steps `N` a round; N+1 new tokens come out"),
		&cli.StringFlag{Name: "io", Usage: "how the model file is read: mmap, buffered or file (unbuffered, a system call for every value)", Value: string(gguf.MMap)},
		tokenizerFlag(),
		&cli.BoolFlag{Name: "evict", Usage: "drop the model from the page cache before every round, to time a cold file"},
		&cli.IntFlag{Name: "logits", Usage: "print the `K` largest logits after the first two passes, and the new ids"},
		&cli.BoolFlag{Name: "ids", Usage: "print the new ids"},
		&cli.BoolFlag{Name: "steps", Usage: "print the percentiles of each round's decode steps after the first"},
		&cli.BoolFlag{Name: "quiet", Usage: "print the lines of the phases only"},
		&cli.BoolFlag{Name: "bench", Usage: "print also, at the end, what benchstat reads; it ignores all other lines"},
	)
}

// generation is a run of one of those commands.
type generation struct {
	*session
	job     bench.Job
	disturb disturbance
	evict   bool
	file    *gguf.File // the model's, open beside that of each round
	vocab   *vocabulary
	started func() // tells that the start is over: the heap is collected as ever
	prompt  int    // how many tokens it has
	asked   prompt
	status  *terminal.Line // nil where nobody sees it

	resident   func() (share float64, err error) // of the model file in the page cache, as it was found
	cacheState string                            // the same in words
	prompted   []int32                           // the last prompt that was recorded
	decodeErr  error                             // the first text that could not be made of its tokens
}

// generating is what one of the commands has of its own.
type generating struct {
	rounds  int  // where no argument says how many
	none    bool // whether 0 rounds are some
	trace   bool
	origins map[string]recording.Knob // of what it has read elsewhere than from its flags
	// positions is how many positions its engine reaches where the model's file
	// says architecture and context, and whose limit that is.
	positions func(architecture string, context int) (positions int, whose string)
	// footprint is the memory that its engine cannot do without for a model of p whose
	// file is f.
	footprint func(p *transformer.Params, f *gguf.File, positions int) engine.Footprint
}

// newGeneration reads the flags and the one argument, the number of rounds, and
// begins the recording.
func newGeneration(c *cli.Context, own generating) (_ *generation, err error) {
	started := sync.OnceFunc(calmHeap())
	defer func() {
		if err != nil {
			started()
		}
	}()
	g := &generation{session: sessionOf(c), evict: c.Bool("evict"), started: started}
	kind, err := g.readFlags(c, own)
	if err != nil {
		return nil, err
	}
	g.enter(names.SpanRecord, "")
	header := g.newHeader(c, own)
	g.mu.Lock() // a note may be told meanwhile
	g.header = header
	if !header.View.Quiet {
		g.status = newStatus(c.App.ErrWriter)
		g.stderr = g.status.Before(g.stderr)
	}
	g.mu.Unlock()
	g.out.printer = console.New(g.status.Before(c.App.Writer))
	g.out.printer.Unicode = terminal.Unicode()
	if err := g.open(c); err != nil {
		return nil, err
	}
	if g.out.state != "" {
		if header.Model.Digest = models.RememberedDigest(g.out.state, g.job.ModelPath); header.Model.Digest == "" && !g.evict {
			g.digestOf = g.job.ModelPath
		}
	}
	if !g.evict {
		g.resident = gguf.BeginResident(g.job.ModelPath) // before anything of it is read
	}
	if err := g.openFile(); err != nil {
		return nil, err
	}
	if g.profile != nil {
		g.note("--" + profileName + ": the run is profiled, so its times are not to be compared with those of others")
	}
	g.enter(names.SpanRecord, "")
	g.begin()
	err = g.readPrompt(c, kind)
	if err == nil {
		err = g.fits(own)
	}
	if err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

// newHeader is the header of the recording, as far as the flags say.
func (g *generation) newHeader(c *cli.Context, own generating) *recording.Header {
	origins := map[string]recording.Knob{}
	maps.Copy(origins, own.origins)
	rounds := recording.Knob{Name: roundsKnob, Value: strconv.Itoa(g.job.Rounds), Origin: recording.FromDefault}
	if c.NArg() > 0 {
		rounds.Origin = recording.FromFlag
	}
	origins[roundsKnob] = rounds
	header := newHeader(c, g.args, origins)
	header.View = recording.View{Label: c.Command.Name, Quiet: c.Bool("quiet"), IDs: c.Bool("ids") || c.Int("logits") > 0, Trace: own.trace, Steps: c.Bool("steps"), Bench: c.Bool("bench")}
	header.Model = modelFile(g.job.ModelPath)
	return header
}

// readPrompt makes the vocabulary, and the prompt.
func (g *generation) readPrompt(c *cli.Context, kind string) (err error) {
	g.enter(names.SpanTokenizer, kind)
	if g.vocab, err = vocabularyFor(c.IsSet("prompt-ids"), g.file, kind, g.note); err != nil {
		return err
	}
	g.enter(names.SpanArguments, "")
	g.asked, err = promptSource(c, g.vocab)
	g.prompt, g.job.Prompt = len(g.asked.ids), g.asked.again
	return err
}

// fits refuses, before anything is built, what the model's context does not hold, and
// what there is no memory for. A header that does not say what that is, is told when
// the model is built.
func (g *generation) fits(own generating) error {
	p, err := transformer.ReadParams(g.file)
	if err != nil {
		return nil
	}
	architecture, _, err := g.file.String("general.architecture")
	if err != nil {
		return nil
	}
	most, whose := own.positions(architecture, p.Context)
	if err := bench.Fits(g.prompt, g.job.Tokens, most, whose); err != nil {
		return err
	}
	available, ok := machine.AvailableMemory()
	if !ok {
		available = machine.Memory()
	}
	return own.footprint(&p, g.file, g.prompt+g.job.Tokens).Check(available)
}

// readFlags reads what the flags and the argument say, and finds the model.
func (g *generation) readFlags(c *cli.Context, own generating) (tokenizer string, err error) {
	rounds, err := roundsArgument(c, own)
	if err != nil {
		return "", err
	}
	tokens, err := readTokens(c)
	if err != nil {
		return "", err
	}
	if k := c.Int("logits"); k < 0 {
		return "", usagef("--logits %d: how many logits to print is 0 or more", k)
	}
	mode, err := readIO(c.String("io"))
	if err != nil {
		return "", err
	}
	kind, err := readTokenizer(c)
	if err != nil {
		return "", err
	}
	path, err := findModel(c)
	if err != nil {
		return "", err
	}
	g.job = bench.Job{ModelPath: path, IO: mode, Rounds: rounds, Tokens: tokens, TopLogits: c.Int("logits")}
	g.disturb, err = readDisturbance(c)
	return kind, err
}

func roundsArgument(c *cli.Context, own generating) (int, error) {
	if c.NArg() > 1 {
		return 0, usagef("%s takes one argument, the number of rounds; %q is too many", c.Command.Name, c.Args().Get(1))
	}
	if a := c.Args().First(); a != "" {
		n, err := strconv.Atoi(a)
		least := 1
		if own.none {
			least = 0
		}
		if err != nil || n < least || n > maxRounds {
			hint := ""
			if c.Command.Name == "metal" && n == 0 && err == nil {
				hint = "; 0 goes with --warmup PLAN alone, which then is all that is done"
			}
			return 0, usagef("%s %q: the number of rounds is a whole number from %d to %d%s", c.Command.Name, a, least, maxRounds, hint)
		}
		return n, nil
	}
	return own.rounds, nil
}

// openFile opens the model's file for what is read of it besides the rounds, so
// that every round can open and close its own. Where the file is to be evicted, a map
// of it would keep its pages: then it is read into memory.
func (g *generation) openFile() error {
	mode := gguf.MMap
	if g.evict {
		mode = gguf.Buffered
	}
	g.enter(names.SpanArguments, "")
	f, err := gguf.OpenWhole(g.job.ModelPath, mode)
	if err != nil {
		return err
	}
	if err := f.CheckWhole(); err != nil {
		return errors.Join(err, f.Close())
	}
	g.file, g.header.Model.Types, g.header.Model.Bytes = f, tensorTypes(f), f.Whole()
	return nil
}

// tensorTypes counts a file's tensors by type, the most bytes first.
func tensorTypes(f *gguf.File) string {
	count, bytes := map[quant.Type]int{}, map[quant.Type]int64{}
	for _, t := range f.Tensors {
		count[t.Type]++
		bytes[t.Type] += t.Bytes
	}
	types := slices.SortedFunc(maps.Keys(count), func(a, b quant.Type) int {
		return cmp.Or(cmp.Compare(bytes[b], bytes[a]), cmp.Compare(a, b))
	})
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = fmt.Sprintf("%d %s", count[t], t)
	}
	return strings.Join(words, " + ")
}

func (g *generation) close() error {
	g.started()
	g.enter(names.SpanClose, "")
	return g.file.Close()
}

// runner is what an engine brings to the rounds.
type runner struct {
	build func(*gguf.File) (engine.Model, error)
	// name says what runs the model: threads, instruction set, device. It is told
	// before the first round; or else describe says it of the first round's model,
	// and also how that holds the weights (one of recording's Weights constants).
	name     string
	describe func(engine.Model) (text, weights string)
}

// run performs the rounds, each of which is printed and recorded as it ends.
func (g *generation) run(ctx context.Context, r runner) (err error) {
	defer func() { err = errors.Join(err, g.close()) }()
	g.job.Build = r.build
	g.job.Untraced, g.job.Around = g.disturb.untraced, g.disturb.around(ctx)
	g.job.BeforeRound = func(n int) error { return g.beforeRound(n, r.name) }
	g.job.Built = func(n int, m engine.Model) {
		var told []recording.Event
		if n == 1 && r.name == "" {
			told = append(told, g.measured(r.describe(m)))
		}
		g.between(told...)
	}
	g.job.Passed = func(round, steps int) {
		g.status.Set("round %d of %d: %d of %d tokens", round, g.job.Rounds, steps+1, g.job.Tokens+1)
		if !g.disturb.untraced {
			g.between()
		}
		if steps < g.job.Tokens {
			g.disturb.pause(ctx, g.rec, steps+1)
		}
	}
	if g.job.Rounds > 0 { // else a warm-up was all
		_, err = bench.Run(ctx, g.job, g.rec, g.ended)
	}
	g.enter(names.SpanRecord, "")
	return g.written(cmp.Or(err, g.decodeErr, g.disturb.unused()))
}

// written adds to a run's error the first failure to print, unless that is the
// error already.
func (g *generation) written(err error) error {
	failed := g.out.printer.Err()
	if failed == nil || errors.Is(err, failed) {
		return err
	}
	return errors.Join(err, failed)
}

// beforeRound makes the file cold where that is asked for, and says how warm it
// is, and what runs it where that has a name. The round follows at once.
func (g *generation) beforeRound(n int, engine string) error {
	if err := g.out.printer.Err(); err != nil && !(g.out.asked() && errors.Is(err, syscall.EPIPE)) {
		return err // nobody would see the round
	}
	if g.evict {
		g.enter(names.SpanEvict, "")
		if err := gguf.Evict(g.job.ModelPath); err != nil {
			return fmt.Errorf("--evict: %w", err)
		}
	}
	if g.evict || n == 1 {
		g.enter(names.SpanRecord, "")
		told := []recording.Event{g.residence(n)}
		if n == 1 && engine != "" {
			told = append(told, g.measured(engine, ""))
		}
		g.catchUp(told...)
	}
	g.leave()
	return nil
}

// residence is how much of the file lies in the page cache: as this process has found
// it, or after its eviction. Later rounds are not asked unless it was evicted again: the
// first has read it.
func (g *generation) residence(round int) *recording.Evidence {
	e := &recording.Evidence{What: recording.EvidencePageCache, Round: round, Evicted: g.evict}
	if g.evict {
		g.resident = gguf.BeginResident(g.job.ModelPath)
	}
	resident, err := g.resident()
	g.cacheState = figures.Percent(resident) + " of the file in the page cache"
	if e.Resident = resident; err != nil {
		e.Resident, g.cacheState = -1, "page cache not readable here"
	}
	if g.evict {
		g.cacheState += " after eviction"
	}
	return e
}

// measured says what is measured.
func (g *generation) measured(engine, weights string) *recording.Subject {
	return &recording.Subject{IO: string(g.job.IO), PageCache: g.cacheState, Engine: engine, Tokenizer: g.vocab.name(), TokenizerWhy: g.vocab.why, Template: g.asked.template, TemplateWhy: g.asked.templateWhy, Weights: weights}
}

// ended prints and records a round, whole or cut short.
func (g *generation) ended(r bench.Round, cut error) {
	g.enter(names.SpanRecord, "")
	g.started()
	text, err := g.vocab.decode(r.IDs)
	if err != nil && g.decodeErr == nil {
		g.decodeErr = err
	}
	e := &recording.Round{Number: r.Number, Span: r.Span, Prompt: len(r.Prompt), IDs: r.IDs, Text: text, Top: r.Top}
	if len(r.Prompt) > 0 && !slices.Equal(r.Prompt, g.prompted) {
		e.PromptIDs, g.prompted = r.Prompt, r.Prompt
	}
	if cut != nil {
		e.Error = oneLine(cut)
	}
	g.catchUp(e, g.machineNow())
}
