package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/introgen/introgen/bench"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/llama"
	"github.com/introgen/introgen/engine/metal"
	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/results/answers/coverage"
	"github.com/introgen/introgen/results/recording"
	"github.com/urfave/cli/v2"
)

func coverageCommand() *cli.Command {
	return &cli.Command{
		Name:  "coverage",
		Usage: "which libraries and pipelines a warm-up compiles, which a run still would, and the smallest that covers all",
		Description: "Compares a full run (the prompt and --tokens) with a warm-up of n prompt tokens and m decode steps. It\n" +
			"is computed from what the metal command dispatches, without a device; --verify makes both runs and\n" +
			"holds what they compiled against it.\n\n" +
			"Examples:\n" +
			"   introgen coverage                       a warm-up of the run's own prompt, without decode steps\n" +
			"   introgen coverage --warmup 2,1\n" +
			"   introgen coverage --prompt-file long.txt --tokens 2000 --warmup 40,1 --verify",
		Flags: append(waitFlags(),
			&cli.StringFlag{Name: "warmup", Usage: "the warm-up: `N,M` prompt tokens and decode steps", DefaultText: "the prompt's tokens, 0"},
			&cli.StringFlag{Name: "architecture", Usage: "of the device, such as applegpu_g13g; it decides between tiles", DefaultText: "that of the soft driver"},
			&cli.BoolFlag{Name: "verify", Usage: "make the runs too, and fail where they compile something else"},
			&cli.StringFlag{Name: "model", Usage: "GGUF `FILE`, or the name of one that `introgen model list` shows"},
			&cli.StringFlag{Name: "prompt", Usage: "what the full run asks, put into the model's chat template", Value: bench.DefaultPrompt},
			&cli.StringFlag{Name: "prompt-file", Usage: "read the prompt from `FILE`; - is standard input"},
			&cli.BoolFlag{Name: "raw-prompt", Usage: "take the prompt as it is, without the chat template"},
			&cli.StringFlag{Name: "prompt-ids", Usage: "token `IDS` instead of a text: 1,4093,198"},
			&cli.IntFlag{Name: "tokens", Usage: "decode steps `N` of the full run", Value: 20},
		),
		Action: runCoverage,
	}
}

func runCoverage(c *cli.Context) (err error) {
	if c.Args().Present() {
		return usagef("coverage takes no argument, got %q; the warm-up is --warmup N,M", c.Args().First())
	}
	style, err := readStyle(c)
	if err != nil {
		return err
	}
	if c.Int("tokens") < 0 {
		return usagef("--tokens %d: the number of decode steps is 0 or more", c.Int("tokens"))
	}
	if c.Bool("verify") && c.String("architecture") != "" {
		return usagef("--verify makes runs on the device that is here, so --architecture has no meaning with it")
	}
	if !c.Bool("verify") {
		if err := nothingToRecord(c, "without --verify coverage makes no run"); err != nil {
			return err
		}
	}
	path, err := models.Find(c.String("model"))
	if err != nil {
		return err
	}
	f, err := gguf.Open(path, gguf.MMap)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	ids, err := promptIDs(c, f)
	if err != nil {
		return err
	}
	model, err := llama.Load(f)
	if err != nil {
		return err
	}
	needs, err := metal.Needs(model, c.String("architecture"))
	if err != nil {
		return err
	}
	full := coverage.Run{Prompt: len(ids), Steps: c.Int("tokens")}
	positions, whose := forward.Positions(model.Context)
	if err := bench.Fits(full.Prompt, full.Steps, positions, whose); err != nil {
		return err
	}
	warm, err := readWarmup(c.String("warmup"), full)
	if err != nil {
		return err
	}
	if err := bench.Fits(warm.Prompt, warm.Steps, positions, whose); err != nil {
		return fmt.Errorf("--warmup: %w", err)
	}
	foretold, err := coverage.Foretell(pipelines{needs}, full, warm)
	if err != nil {
		return err
	}
	if !c.Bool("verify") {
		return coverage.Of(foretold).Document().Write(c.App.Writer, style)
	}
	return verifyCoverage(c, foretold, ids)
}

func promptIDs(c *cli.Context, f *gguf.File) ([]int32, error) {
	if err := f.CheckWhole(); err != nil {
		return nil, err
	}
	g := &generation{session: sessionOf(c), tokFile: f}
	if !c.IsSet("prompt-ids") { // no text comes of it
		if err := g.chooseTokenizer(c, "auto"); err != nil {
			return nil, err
		}
	}
	source, err := g.promptSource(c)
	if err != nil {
		return nil, err
	}
	return source()
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

// verifyCoverage makes both runs and holds what they compiled against what was
// foretold.
func verifyCoverage(c *cli.Context, foretold *recording.Coverage, ids []int32) error {
	var arms []recording.Arm
	for _, arm := range []struct {
		name string
		run  recording.Foretold
	}{{coverage.ArmFull, foretold.Full}, {coverage.ArmWarmUp, foretold.WarmUp}} {
		args := []string{"metal", "1", "--prompt-ids", idList(ids, arm.run.Prompt), "--tokens", strconv.Itoa(arm.run.Steps)}
		if c.IsSet("model") {
			args = append(args, "--model", c.String("model"))
		}
		arms = append(arms, recording.Arm{Name: arm.name, Args: args, Levels: map[string]string{"run": arm.name}})
	}
	return runPlan(c, planned{arms: arms, factors: []string{"run"}, blocks: 1, foretold: foretold, answer: coverage.Verified})
}

// idList is the first n ids, begun again where there are fewer.
func idList(ids []int32, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = strconv.Itoa(int(ids[i%len(ids)]))
	}
	return strings.Join(list, ",")
}
