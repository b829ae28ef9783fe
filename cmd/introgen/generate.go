package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/introgen/introgen/bench"
	"github.com/introgen/introgen/engine"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/gguf/pagecache"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/tokenizer"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/results"
	"github.com/introgen/introgen/trace"
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
	return []cli.Flag{
		&cli.StringFlag{Name: "model", Usage: "GGUF `FILE`, or the name of one that `introgen model list` shows (default: the experiment's or its stand-in)"},
		&cli.StringFlag{Name: "prompt", Usage: "what to ask, put into the model's chat template", Value: bench.DefaultPrompt},
		&cli.StringFlag{Name: "prompt-file", Usage: "read the prompt from `FILE`; - is standard input"},
		&cli.BoolFlag{Name: "raw-prompt", Usage: "take the prompt as it is, without the chat template"},
		&cli.StringFlag{Name: "prompt-ids", Usage: "token `IDS` instead of a text: 1,4093,198"},
		&cli.IntFlag{Name: "tokens", Usage: "decode steps `N` a round; N+1 new tokens come out", Value: 20},
		&cli.StringFlag{Name: "io", Usage: "how the model file is read: mmap, buffered or file (unbuffered, a system call for every value)", Value: string(gguf.MMap)},
		&cli.StringFlag{Name: "tokenizer", Usage: "hf (Hugging Face's, where it is built in) or go; default hf where it is there", Value: "auto"},
		&cli.BoolFlag{Name: "evict", Usage: "drop the model from the page cache before every round, to time a cold file"},
		&cli.IntFlag{Name: "logits", Usage: "print the `K` largest logits after the first two passes, and the new ids"},
		&cli.BoolFlag{Name: "ids", Usage: "print the new ids"},
		&cli.BoolFlag{Name: "quiet", Usage: "print the lines of the phases only"},
	}
}

// generation is a run of one of those commands.
type generation struct {
	label   string // cpu, metal: what the lines begin with
	rec     *trace.Recorder
	job     bench.Job
	out     io.Writer
	ids     bool
	quiet   bool
	evict   bool
	tok     tokenizer.Tokenizer
	tokFile *gguf.File
	types   string // tensor types and their counts: "211 Q8_0 + 61 F32"
	status  *status

	// engine says what runs the model: threads, instruction set, device. A
	// generation that has it set says so before the first round; else describe
	// is asked once the first round's model is built.
	engine   string
	describe func(engine.Model) string

	// after hears that a phase is over, outside of all phases: "" is what comes
	// before a round. It may be nil.
	after func(round int, phase string)

	cacheState string // the model file's share in the page cache, in words
	writeErr   error  // the first failure to print
}

// newGeneration reads the flags and the one argument, the number of rounds.
func newGeneration(c *cli.Context, label string, rounds int) (*generation, error) {
	g := &generation{label: label, rec: trace.New(), out: c.App.Writer,
		ids: c.Bool("ids") || c.Int("logits") > 0, quiet: c.Bool("quiet"), evict: c.Bool("evict")}
	rounds, err := roundsArgument(c, rounds)
	if err != nil {
		return nil, err
	}
	if n := c.Int("tokens"); n < 0 {
		return nil, usagef("--tokens %d: the number of decode steps is 0 or more", n)
	}
	if k := c.Int("logits"); k < 0 {
		return nil, usagef("--logits %d: how many logits to print is 0 or more", k)
	}
	mode, err := gguf.ParseIO(c.String("io"))
	if err != nil {
		return nil, usageError{fmt.Errorf("--io: %w", err)}
	}
	kind := c.String("tokenizer")
	if !slices.Contains([]string{"auto", "go", "hf"}, kind) {
		return nil, usagef("--tokenizer %q is not known: auto, go or hf is wanted", kind)
	}
	if c.IsSet("model") && c.String("model") == "" {
		return nil, usagef("--model is empty: a file or the name of a model is wanted")
	}
	path, err := models.Find(c.String("model"))
	if err != nil {
		return nil, err
	}
	if !g.quiet {
		g.status = newStatus(c.App.ErrWriter)
	}
	g.job = bench.Job{ModelPath: path, IO: mode, Rounds: rounds, Tokens: c.Int("tokens"), TopLogits: c.Int("logits")}
	if err := g.openTokenizer(kind); err != nil {
		return nil, err
	}
	if g.job.Prompt, err = g.promptSource(c); err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
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

// openTokenizer opens the model's file once more for the vocabulary, so that
// every round can open and close its own. Where the file is to be evicted, a
// map of it would keep its pages: then the vocabulary is read into memory.
func (g *generation) openTokenizer(kind string) error {
	mode := gguf.MMap
	if g.evict {
		mode = gguf.Buffered
	}
	sp := g.rec.Begin(results.SpanTokenizer, kind, 0)
	defer sp.End()
	f, err := gguf.Open(g.job.ModelPath, mode)
	if err != nil {
		return err
	}
	g.tok, err = tokenizer.New(f, kind)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	g.tokFile, g.types = f, tensorTypes(f)
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
	return g.tokFile.Close()
}

// run performs the rounds and prints each as it ends.
func (g *generation) run(ctx context.Context, build func(*gguf.File) (engine.Model, error)) (err error) {
	defer func() { err = errors.Join(err, g.close()) }()
	g.job.Build = build
	g.job.BeforeRound = g.beforeRound
	g.job.Built = func(n int, m engine.Model) {
		if n == 1 && g.describe != nil {
			g.header(g.describe(m))
		}
		g.over(n, results.SpanBuild)
	}
	g.job.Passed = func(round, steps int) {
		g.status.set("round %d of %d: %d of %d tokens", round, g.job.Rounds, steps+1, g.job.Tokens+1)
		name := results.SpanPrefill
		if steps > 0 {
			name = results.SpanStep
		}
		g.over(round, name)
	}
	_, err = bench.Run(ctx, g.job, g.rec, func(r bench.Round) {
		g.status.clear()
		if g.writeErr == nil {
			g.writeErr = g.print(r)
		}
	})
	return g.written(err)
}

// written adds to a run's error the first failure to print, unless that is the
// error already.
func (g *generation) written(err error) error {
	if g.writeErr == nil || errors.Is(err, g.writeErr) {
		return err
	}
	return errors.Join(err, g.writeErr)
}

func (g *generation) over(round int, phase string) {
	if g.after != nil {
		g.after(round, phase)
	}
}

func (g *generation) beforeRound(n int) error {
	if g.writeErr != nil {
		return g.writeErr // nobody would see the round
	}
	if g.evict {
		if err := pagecache.Evict(g.job.ModelPath); err != nil {
			return fmt.Errorf("--evict: %w", err)
		}
	}
	if n == 1 {
		resident, err := pagecache.Resident(g.job.ModelPath)
		g.cacheState = fmt.Sprintf("%.0f %% of the file in the page cache", 100*resident)
		if err != nil {
			g.cacheState = "page cache not readable here"
		}
		if g.evict {
			g.cacheState += " after eviction"
		}
		if g.describe == nil {
			g.header(g.engine)
		}
	}
	g.over(n, "")
	return nil
}

// header writes the line that says what is measured.
func (g *generation) header(engine string) {
	if g.quiet {
		return
	}
	g.write("# %s: %s, read by %s, %s; %s; tokenizer %s, ready in %s ms\n",
		filepath.Base(g.job.ModelPath), g.types, g.job.IO, g.cacheState, engine, g.tok.Name(), g.tokenizerTime())
}

// write prints unless printing has failed before.
func (g *generation) write(format string, a ...any) {
	if g.writeErr == nil {
		_, g.writeErr = fmt.Fprintf(g.out, format, a...)
	}
}

func (g *generation) tokenizerTime() string {
	for _, s := range g.rec.Spans() {
		if s.Name == results.SpanTokenizer {
			return strconv.FormatFloat(s.Duration().Seconds()*1e3, 'f', 1, 64)
		}
	}
	return "-"
}

// print writes one round. A round that an error cut short is printed as far as
// it came, if it came to a token.
func (g *generation) print(r bench.Round) error {
	if len(r.IDs) == 0 {
		return nil
	}
	phases := results.RoundPhases(g.rec.Spans(), r.Span)
	phases.Steps = phases.Steps[:min(len(phases.Steps), len(r.IDs)-1)] // not the one that failed
	if err := results.WritePhases(g.out, g.label, phases, !g.quiet); err != nil {
		return err
	}
	if g.ids {
		if err := results.WriteIDs(g.out, g.label, r.Number, r.IDs); err != nil {
			return err
		}
	}
	for i, top := range r.Top {
		pass := "prefill"
		if i > 0 {
			pass = fmt.Sprintf("step %d", i)
		}
		if err := results.WriteLogits(g.out, g.label, r.Number, pass, top); err != nil {
			return err
		}
	}
	if r.Number > 1 || g.quiet {
		return nil
	}
	text, err := g.tok.Decode(r.IDs)
	if err != nil {
		return err
	}
	return results.WriteText(g.out, g.label, r.Number, text)
}
