package main

import (
	"errors"

	"github.com/introgen/introgen/engine"
	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/results/recording"
	"github.com/urfave/cli/v2"
)

func cpuCommand() *cli.Command {
	return &cli.Command{
		Name:      "cpu",
		Usage:     "generate on the CPU and time every phase",
		ArgsUsage: "[ROUNDS]",
		Description: "Runs ROUNDS generations (default 3) in one process. Each opens the file, builds the model,\n" +
			"passes the prompt (prefill) and decodes --tokens steps; total is prefill plus decode.\n\n" +
			"Examples:\n" +
			"   introgen cpu 3\n" +
			"   introgen cpu 1 --threads 1 --logits 5\n" +
			"   introgen cpu --tokens 500 --pack --prompt 'Tell me a story'\n" +
			"   introgen cpu 1 --evict --io file\n" +
			"   introgen cpu 3 --trace                       what each thread did in each stage of a pass\n" +
			"   introgen cpu 3 -o cpu.introgen -o cpu.txt    what was measured, for `introgen show` and benchstat\n\n" +
			"INTROGEN_CPU=avx512|avx2|dotprod|neon|generic chooses the instruction set; the default is the best one here.",
		Flags: append(generateFlags(),
			&cli.BoolFlag{Name: "trace", Usage: "record what each thread does in each stage of a pass, and print tables at the end, beside what this machine can do"},
			&cli.IntFlag{Name: "threads", Usage: "worker threads `N`", Value: cpu.DefaultThreads()},
			&cli.GenericFlag{Name: "pack", Value: &packChoice{}, DefaultText: "auto",
				Usage: "rewrite the weights at load for faster steps: --pack, --pack=off, or --pack=auto, which does so where the run is long enough to repay it"},
		),
		Action: runCPU,
	}
}

// packChoice is --pack: alone it means on.
type packChoice struct{ pack cpu.Pack }

func (p *packChoice) IsBoolFlag() bool { return true }

func (p *packChoice) Set(s string) error {
	switch s {
	case "auto":
		p.pack = cpu.PackAuto
	case "true", "on":
		p.pack = cpu.PackOn
	case "false", "off":
		p.pack = cpu.PackOff
	default:
		return errors.New("on, off or auto is wanted")
	}
	return nil
}

func (p *packChoice) String() string {
	return map[cpu.Pack]string{cpu.PackAuto: "auto", cpu.PackOn: "on", cpu.PackOff: "off"}[p.pack]
}

func runCPU(c *cli.Context) error {
	threads := c.Int("threads")
	if threads < 1 || threads > cpu.MaxThreads {
		return usagef("--threads %d: 1 to %d are allowed; this machine has %d cores", threads, cpu.MaxThreads, cpu.DefaultThreads())
	}
	traced := c.Bool("trace")
	o := cpu.Options{Threads: threads, Pack: c.Generic("pack").(*packChoice).pack, Cancelled: c.Context.Err}
	g, err := newGeneration(c, generating{rounds: 3, trace: traced, positions: cpu.Positions,
		footprint: func(p *transformer.Params, f *gguf.File, positions int) engine.Footprint {
			return o.Footprint(p, f.Whole(), positions)
		}})
	if err != nil {
		return err
	}
	o.Positions, o.Steps = g.prompt+g.job.Tokens, g.job.Tokens
	describe := func(m engine.Model) (text, weights string) {
		d := m.(*cpu.Engine).Describe()
		if d.Packed {
			return "cpu: " + d.String(), recording.WeightsPacked
		}
		return "cpu: " + d.String(), recording.WeightsStored
	}
	if traced && !g.disturb.untraced {
		t := newThreadTrace(g.rec)
		o.Observer, g.more = t, t.tell
	}
	err = g.run(c.Context, runner{describe: describe, build: func(f *gguf.File) (engine.Model, error) {
		m, err := transformer.Load(f)
		if err != nil {
			return nil, err
		}
		// A cache for what is asked for, and no more: a model's whole context may
		// take more memory than there is. What does not fit into it is told later.
		o.Context = min(g.prompt+g.job.Tokens, m.Context)
		return cpu.New(m, o)
	}})
	if traced && err == nil {
		limits, stopped := g.limits(c.Context, o.Observer != nil)
		g.catchUp(limits...)
		err = g.written(stopped)
	}
	return err
}
