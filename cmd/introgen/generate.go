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
	"syscall"

	"github.com/introgen/introgen/bench"
	"github.com/introgen/introgen/engine"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/gguf/pagecache"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/tokenizer"
	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/digests"
	"github.com/introgen/introgen/results/console"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
	"github.com/urfave/cli/v2"
)

// Limits of what a flag may ask for. They are far beyond any use and keep a
// slip of the finger from filling the memory.
const (
	maxRounds     = 100_000
	maxPromptFile = 16 << 20
)

// generateFlags are those of every command that generates tokens.
func generateFlags() []cli.Flag {
	return append(slices.Concat(outputFlags(), disturbFlags()),
		&cli.StringFlag{Name: "model", Usage: "GGUF `FILE`, or the name of one that `introgen model list` shows (default: the experiment's or its stand-in)"},
		&cli.StringFlag{Name: "prompt", Usage: "what to ask, put into the model's chat template", Value: bench.DefaultPrompt},
		&cli.StringFlag{Name: "prompt-file", Usage: "read the prompt from `FILE`; - is standard input"},
		&cli.BoolFlag{Name: "raw-prompt", Usage: "take the prompt as it is, without the chat template"},
		&cli.StringFlag{Name: "prompt-ids", Usage: "token `IDS` instead of a text: 1,4093,198"},
		&cli.IntFlag{Name: "tokens", Usage: "decode steps `N` a round; N+1 new tokens come out", Value: 20},
		&cli.StringFlag{Name: "io", Usage: "how the model file is read: mmap, buffered or file (unbuffered, a system call for every value)", Value: string(gguf.MMap)},
		&cli.StringFlag{Name: "tokenizer", Usage: "hf (Hugging Face's, where it is built in), go, or auto: hf where it is there and takes the vocabulary, else go", Value: "auto"},
		&cli.BoolFlag{Name: "evict", Usage: "drop the model from the page cache before every round, to time a cold file"},
		&cli.IntFlag{Name: "logits", Usage: "print the `K` largest logits after the first two passes, and the new ids"},
		&cli.BoolFlag{Name: "ids", Usage: "print the new ids"},
		&cli.BoolFlag{Name: "quiet", Usage: "print the lines of the phases only"},
		&cli.BoolFlag{Name: "bench", Usage: "print also, at the end, what benchstat reads; it ignores all other lines"},
	)
}

// generation is a run of one of those commands.
type generation struct {
	*session
	job     bench.Job
	disturb disturbance
	ids     bool
	quiet   bool
	evict   bool
	tok     tokenizer.Tokenizer // nil where there is none: then texts are not available
	auto    bool                // whether tok may be exchanged for another of the same ids
	tokFile *gguf.File
	status  *status

	// engine says what runs the model: threads, instruction set, device. A
	// generation that has it set says so before the first round; else describe
	// is asked once the first round's model is built.
	engine   string
	describe func(engine.Model) string

	cacheState string  // the model file's share in the page cache, in words
	prompted   []int32 // the last prompt that was recorded
	decodeErr  error   // the first text that could not be made of its tokens
}

// newGeneration reads the flags and the one argument, the number of rounds, and
// begins the recording. label is what the lines begin with; origins has the
// knobs that the command has read elsewhere than from its flags.
func newGeneration(c *cli.Context, label string, rounds int, trace bool, origins map[string]recording.Knob) (*generation, error) {
	g := &generation{session: sessionOf(c), ids: c.Bool("ids") || c.Int("logits") > 0, quiet: c.Bool("quiet"), evict: c.Bool("evict")}
	kind, err := g.readFlags(c, rounds)
	if err != nil {
		return nil, err
	}
	g.enter(names.SpanRecord, "")
	origin := recording.FromDefault
	if c.NArg() > 0 {
		origin = recording.FromFlag
	}
	origins = maps.Clone(origins)
	if origins == nil {
		origins = map[string]recording.Knob{}
	}
	origins[roundsKnob] = recording.Knob{Name: roundsKnob, Value: strconv.Itoa(g.job.Rounds), Origin: origin}
	header := newHeader(c, g.args, origins)
	header.View = recording.View{Label: label, Quiet: g.quiet, IDs: g.ids, Trace: trace, Bench: c.Bool("bench")}
	header.Model = modelFile(g.job.ModelPath)
	if !g.quiet {
		g.status = newStatus(c.App.ErrWriter)
		g.mu.Lock() // a note may be told meanwhile
		g.stderr = &clearing{g.status, g.stderr}
		g.mu.Unlock()
	}
	if err := g.open(c, header, console.New(&clearing{g.status, c.App.Writer})); err != nil {
		return nil, err
	}
	if g.state != "" {
		if header.Model.Digest = digests.Lookup(g.state, g.job.ModelPath); header.Model.Digest == "" && !g.evict {
			g.digestOf = g.job.ModelPath
		}
	}
	if err := g.openVocabulary(); err != nil {
		return nil, err
	}
	g.enter(names.SpanRecord, "")
	g.begin()
	g.enter(names.SpanTokenizer, kind)
	if err = g.chooseTokenizer(c, kind); err != nil {
		return nil, errors.Join(err, g.close())
	}
	g.enter(names.SpanArguments, "")
	if g.job.Prompt, err = g.promptSource(c); err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

// readFlags reads what the flags and the argument say, and finds the model.
func (g *generation) readFlags(c *cli.Context, rounds int) (tokenizer string, err error) {
	if rounds, err = roundsArgument(c, rounds); err != nil {
		return "", err
	}
	if n := c.Int("tokens"); n < 0 {
		return "", usagef("--tokens %d: the number of decode steps is 0 or more", n)
	}
	if k := c.Int("logits"); k < 0 {
		return "", usagef("--logits %d: how many logits to print is 0 or more", k)
	}
	mode, err := gguf.ParseIO(c.String("io"))
	if err != nil {
		return "", usageError{fmt.Errorf("--io: %w", err)}
	}
	kind := c.String("tokenizer")
	if !slices.Contains([]string{"auto", "go", "hf"}, kind) {
		return "", usagef("--tokenizer %q is not known: auto, go or hf is wanted", kind)
	}
	if c.IsSet("model") && c.String("model") == "" {
		return "", usagef("--model is empty: a file or the name of a model is wanted")
	}
	path, err := models.Find(c.String("model"))
	if err != nil {
		return "", err
	}
	g.job = bench.Job{ModelPath: path, IO: mode, Rounds: rounds, Tokens: c.Int("tokens"), TopLogits: c.Int("logits")}
	g.disturb, err = readDisturbance(c)
	return kind, err
}

func roundsArgument(c *cli.Context, rounds int) (int, error) {
	if c.NArg() > 1 {
		return 0, usagef("%s takes one argument, the number of rounds; %q is too many", c.Command.Name, c.Args().Get(1))
	}
	if a := c.Args().First(); a != "" {
		n, err := strconv.Atoi(a)
		if err != nil || n < 1 || n > maxRounds {
			return 0, usagef("%s %q: the number of rounds is a whole number from 1 to %d", c.Command.Name, a, maxRounds)
		}
		return n, nil
	}
	return rounds, nil
}

// openVocabulary opens the model's file once more for the tokenizer, so that
// every round can open and close its own. Where the file is to be evicted, a map
// of it would keep its pages: then the vocabulary is read into memory.
func (g *generation) openVocabulary() error {
	mode := gguf.MMap
	if g.evict {
		mode = gguf.Buffered
	}
	g.enter(names.SpanArguments, "")
	f, err := gguf.Open(g.job.ModelPath, mode)
	if err != nil {
		return err
	}
	if err := f.CheckWhole(); err != nil {
		return errors.Join(err, f.Close())
	}
	g.tokFile, g.header.Model.Types = f, tensorTypes(f)
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
	if g.tokFile == nil {
		return nil
	}
	g.enter(names.SpanClose, "")
	return g.tokFile.Close()
}

// run performs the rounds, each of which is printed and recorded as it ends.
func (g *generation) run(ctx context.Context, build func(*gguf.File) (engine.Model, error)) (err error) {
	defer func() { err = errors.Join(err, g.close()) }()
	g.job.Build = build
	g.job.Untraced, g.job.Around = g.disturb.untraced, g.disturb.around(ctx)
	g.job.BeforeRound = g.beforeRound
	g.job.Built = func(n int, m engine.Model) {
		var told []recording.Event
		if n == 1 && g.describe != nil {
			told = append(told, g.subject(g.describe(m)))
		}
		g.between(told...)
	}
	g.job.Passed = func(round, steps int) {
		g.status.set("round %d of %d: %d of %d tokens", round, g.job.Rounds, steps+1, g.job.Tokens+1)
		if !g.disturb.untraced {
			g.between()
		}
		if steps < g.job.Tokens {
			g.disturb.pause(ctx, g.rec, steps+1)
		}
	}
	_, err = bench.Run(ctx, g.job, g.rec, g.ended)
	g.enter(names.SpanRecord, "")
	return g.written(cmp.Or(err, g.decodeErr, g.disturb.unused()))
}

// written adds to a run's error the first failure to print, unless that is the
// error already.
func (g *generation) written(err error) error {
	failed := g.printer.Err()
	if failed == nil || errors.Is(err, failed) {
		return err
	}
	return errors.Join(err, failed)
}

// beforeRound makes the file cold where that is asked for, and says how warm it
// is. The round follows at once.
func (g *generation) beforeRound(n int) error {
	if err := g.printer.Err(); err != nil && !(g.wanted() && errors.Is(err, syscall.EPIPE)) {
		return err // nobody would see the round
	}
	if g.evict {
		g.enter(names.SpanEvict, "")
		if err := pagecache.Evict(g.job.ModelPath); err != nil {
			return fmt.Errorf("--evict: %w", err)
		}
	}
	if g.evict || n == 1 {
		g.enter(names.SpanRecord, "")
		told := []recording.Event{g.residence(n)}
		if n == 1 && g.describe == nil {
			told = append(told, g.subject(g.engine))
		}
		g.catchUp(told...)
	}
	g.leave()
	return nil
}

// residence is how much of the file lies in the page cache. Later rounds are not
// asked, unless the file was evicted: the first has read it.
func (g *generation) residence(round int) *recording.Evidence {
	e := &recording.Evidence{What: recording.EvidencePageCache, Round: round, Evicted: g.evict}
	resident, err := pagecache.Resident(g.job.ModelPath)
	g.cacheState = figures.Percent(resident) + " of the file in the page cache"
	if e.Resident = resident; err != nil {
		e.Resident, g.cacheState = -1, "page cache not readable here"
	}
	if g.evict {
		g.cacheState += " after eviction"
	}
	return e
}

// subject says what is measured.
func (g *generation) subject(engine string) *recording.Subject {
	name := recording.NoTokenizer
	if g.tok != nil {
		name = g.tok.Name()
	}
	return &recording.Subject{IO: string(g.job.IO), PageCache: g.cacheState, Engine: engine, Tokenizer: name}
}

// ended prints and records a round, whole or cut short.
func (g *generation) ended(r bench.Round, cut error) {
	g.enter(names.SpanRecord, "")
	text, err := g.decode(r.IDs)
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
