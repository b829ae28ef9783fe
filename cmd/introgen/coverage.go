package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/introgen/introgen/bench"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/metal"
	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/results/answers/coverage"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/results/store"
	"github.com/urfave/cli/v2"
)

func coveragePlan() planCommand {
	return planCommand{
		Command: &cli.Command{
			Name:      "coverage",
			ArgsUsage: "[FILE]",
			Usage:     "which libraries and pipelines a warm-up compiles, which a run still would, and the smallest that covers all",
			Description: "Compares a full run (the prompt and --tokens) with a warm-up of n prompt tokens and m decode steps. It\n" +
				"is computed from what the metal command dispatches, without a device; --verify makes both runs and\n" +
				"holds what they compiled against it.\n" +
				"Of a recorded program, whose needs nobody can compute, it says which phase made what first.\n\n" +
				"Examples:\n" +
				"   introgen coverage 1                     the last recording, of a program\n" +
				"   introgen coverage                       a warm-up of the run's own prompt, without decode steps\n" +
				"   introgen coverage --warmup 2,1\n" +
				"   introgen coverage --plan plan.json      what of a run a plan of introgen remedy --plan covers\n" +
				"   introgen coverage --prompt-file long.txt --tokens 2000 --warmup 40,1 --verify",
			Flags: slices.Concat(waitFlags(), []cli.Flag{
				&cli.StringFlag{Name: "warmup", Usage: "the warm-up: `N,M` prompt tokens and decode steps", DefaultText: "the prompt's tokens, 0"},
				&cli.StringFlag{Name: "architecture", Usage: "of the device, such as applegpu_g13g; it decides between tiles", DefaultText: "that of the soft driver"},
				&cli.StringFlag{Name: "plan", Usage: "instead of a warm-up the plan in `FILE`, which introgen remedy --plan writes"},
				&cli.BoolFlag{Name: "verify", Usage: "make the runs too, and fail where they compile something else"},
				modelFlag(aModel),
				arithmeticFlag(),
			}, promptFlags("what the full run asks"), []cli.Flag{tokensFlag("decode steps `N` of the full run")}),
		},
		plan:   planCoverage,
		answer: always(coverage.Verified),
	}
}

// planCoverage computes what is needed, and with --verify makes the runs that
// are held against it.
func planCoverage(c *cli.Context) (p planned, err error) {
	if c.Args().Present() {
		return recordedCoverage(c)
	}
	tokens, err := readTokens(c)
	if err != nil {
		return p, err
	}
	if c.IsSet("plan") && (c.IsSet("warmup") || c.Bool("verify")) {
		return p, usagef("--plan takes the place of a warm-up: it has no meaning with --warmup or --verify; `introgen metal 0 --warmup PLAN` makes what is in it")
	}
	if c.Bool("verify") && c.String("architecture") != "" {
		return p, usagef("--verify makes runs on the device that is here, so --architecture has no meaning with it")
	}
	if !c.Bool("verify") {
		if err := nothingToRecord(c, "without --verify coverage makes no run"); err != nil {
			return p, err
		}
	}
	path, err := findModel(c)
	if err != nil {
		return p, err
	}
	f, err := gguf.OpenWhole(path, gguf.MMap)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	ids, err := promptIDs(c, f)
	if err != nil {
		return p, err
	}
	model, err := transformer.Load(f)
	if err != nil {
		return p, err
	}
	arithmetic, err := readArithmetic(c)
	if err != nil {
		return p, err
	}
	full := coverage.Run{Prompt: len(ids), Steps: tokens}
	// A warm-up may be longer than the run.
	needs, err := metal.Needs(model, max(full.Prompt+full.Steps, forward.MaxPositions), c.String("architecture"), arithmetic)
	if err != nil {
		return p, err
	}
	positions, whose := forward.Positions(model.Architecture.Name, model.Context)
	if err := bench.Fits(full.Prompt, full.Steps, positions, whose); err != nil {
		return p, err
	}
	if c.IsSet("plan") {
		return coverageOfPlan(c, needs, full)
	}
	warm, err := readWarmup(c.String("warmup"), full)
	if err != nil {
		return p, err
	}
	if err := bench.Fits(warm.Prompt, warm.Steps, positions, whose); err != nil {
		return p, fmt.Errorf("--warmup: %w", err)
	}
	foretold, err := coverage.Foretell(pipelines{needs}, full, warm)
	if err != nil {
		return p, err
	}
	if !c.Bool("verify") {
		return planned{known: coverage.Of(foretold).Document()}, nil
	}
	return planned{arms: coverageArms(c, foretold, ids), factors: []string{"run"}, blocks: 1, foretold: foretold}, nil
}

// coverageOfPlan is what a plan has of what the run needs.
func coverageOfPlan(c *cli.Context, needs *forward.Needs, full coverage.Run) (p planned, err error) {
	path := c.String("plan")
	of, err := readCompilePlan(path)
	if err != nil {
		return p, usagef("--plan: %w", err)
	}
	has, err := pipelinesOf(of)
	if err != nil {
		return p, usagef("--plan %s: %w", path, err)
	}
	foretold, err := coverage.Foretell(pipelines{needs}, full, full)
	if err != nil {
		return p, err
	}
	return planned{known: coverage.OfPlan(sanitize.Line(filepath.Base(path)), foretold.Full, usesOf(has)).Document()}, nil
}

// recordedCoverage is the answer about a program that was recorded: what it needs
// nobody can compute.
func recordedCoverage(c *cli.Context) (p planned, err error) {
	for _, arg := range c.Args().Slice() {
		path, err := store.Find(arg)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return p, usagef("coverage takes no argument but the recording of a program, got %q; the warm-up is --warmup N,M", arg)
		}
	}
	for _, name := range []string{"warmup", "plan", "architecture", "verify", "model", "arithmetic", "tokens", "prompt", "prompt-file", "prompt-ids", "system", "template", "raw-prompt"} {
		if c.IsSet(name) {
			return p, usagef("--%s is of what coverage computes of introgen's own engine; of a recording it says what was made in which phase", name)
		}
	}
	if err := nothingToRecord(c, "a recording that is shown makes no run"); err != nil {
		return p, err
	}
	f, err := openRecordings(c)
	if err != nil {
		return p, err
	}
	doc, err := coverage.Programs(f)
	return planned{known: doc}, err
}

func promptIDs(c *cli.Context, f *gguf.File) ([]int32, error) {
	if err := f.CheckWhole(); err != nil {
		return nil, err
	}
	v := &vocabulary{file: f, note: sessionOf(c).note}
	if !c.IsSet("prompt-ids") { // no text comes of them
		var err error
		if v, err = vocabularyFor(false, f, "auto", v.note); err != nil {
			return nil, err
		}
	}
	p, err := promptSource(c, v)
	return p.ids, err
}

// readWarmup reads N,M; nothing is the full run's prompt alone.
func readWarmup(text string, full coverage.Run) (coverage.Run, error) {
	if text == "" {
		return coverage.Run{Prompt: full.Prompt}, nil
	}
	prompt, steps, ok := strings.Cut(text, ",")
	n, err := strconv.Atoi(strings.TrimSpace(prompt))
	m, bad := 0, error(nil)
	if ok {
		m, bad = strconv.Atoi(strings.TrimSpace(steps))
	}
	if err != nil || bad != nil || n < 1 || m < 0 || n > forward.MaxPositions || m > forward.MaxPositions {
		return coverage.Run{}, usagef("--warmup %q: prompt tokens and decode steps are wanted, such as 2,1; the first from 1 on", text)
	}
	return coverage.Run{Prompt: n, Steps: m}, nil
}

// pipelines are what passes need, in coverage's terms.
type pipelines struct{ needs *forward.Needs }

func usesOf(p []forward.Pipeline) []coverage.Use {
	out := make([]coverage.Use, len(p))
	for i, x := range p {
		out[i] = coverage.Use{Library: x.Library, Function: x.Function, Constants: constants(x.Constants)}
	}
	return out
}

func (f pipelines) Build() []coverage.Use { return usesOf(f.needs.Build()) }

func (f pipelines) Prefill(n int) ([]coverage.Use, error) {
	p, err := f.needs.Prefill(n)
	return usesOf(p), err
}

func (f pipelines) Decode(n int) ([]coverage.Use, error) {
	p, err := f.needs.Decode(n)
	return usesOf(p), err
}

// coverageArms are the runs whose compiling is held against what was foretold.
func coverageArms(c *cli.Context, foretold *recording.Coverage, ids []int32) []recording.Arm {
	arm := func(name string, r recording.Foretold) recording.Arm {
		args := []string{"metal", "1", "--prompt-ids", idList(ids, r.Prompt), "--tokens", strconv.Itoa(r.Steps)}
		if c.IsSet("model") {
			args = append(args, "--model", c.String("model"))
		}
		if c.IsSet("arithmetic") {
			args = append(args, "--arithmetic", c.String("arithmetic"))
		}
		return recording.Arm{Name: name, Args: args, Levels: map[string]string{"run": name}}
	}
	return []recording.Arm{arm(coverage.ArmFull, foretold.Full), arm(coverage.ArmWarmUp, foretold.WarmUp)}
}

// idList is the first n ids, begun again where there are fewer.
func idList(ids []int32, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = strconv.Itoa(int(ids[i%len(ids)]))
	}
	return strings.Join(list, ",")
}
