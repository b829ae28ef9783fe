package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/scripts/peers/peer"
)

// Setting is what all engines of a block are given.
type Setting struct {
	Model   string `json:"model"` // name of the file's weight type: Q8_0, Q4_1
	Threads int    `json:"threads"`
}

func (s Setting) String() string {
	return s.Model + ", " + figures.Number(s.Threads, "thread")
}

// Engine is one way to run introgen or a
type Engine struct {
	Name   string `json:"name"`
	Family string `json:"family"` // introgen, llama.cpp, candle: builds of one peer
	Built  string `json:"built"`  // version, compiler and flags, for the reader

	// command is the process that generates in this setting, and what is added
	// to its environment.
	command func(s Setting, model string, rounds int) (argv, env []string)
}

// Sample is one process of one engine.
type Sample struct {
	Block   int         `json:"block"`
	Setting Setting     `json:"setting"`
	Engine  string      `json:"engine"`
	Output  peer.Output `json:"output"`
	PeakMiB float64     `json:"peak_mib"` // largest resident memory; 0 where it cannot be asked
}

// Measurement is everything that a report is made from.
type Measurement struct {
	Date      time.Time        `json:"date"`
	Machine   peer.Machine     `json:"machine"`
	Revision  string           `json:"revision"` // of introgen
	Files     map[string]int64 `json:"files"`    // bytes of each model file, by Setting.Model
	Blocks    int              `json:"blocks"`
	Rounds    int              `json:"rounds"`
	Settings  []Setting        `json:"settings"`
	Engines   []Engine         `json:"engines"`
	Samples   []Sample         `json:"samples"`
	Bandwidth []Bandwidth      `json:"bandwidth"`
	Loaded    []Sample         `json:"loaded"` // with a busy neighbour
	Busy      [2]float64       `json:"busy"`   // load average before and after
	Absent    []string         `json:"absent"` // peers that could not be measured, and why
}

// processLimit is how long one process may take. Beside a busy neighbour an
// engine whose threads only spin takes minutes for what else takes a second.
const processLimit = 10 * time.Minute

// Runner runs the processes of a measurement.
type Runner struct {
	Models  map[string]string // path by Setting.Model
	Log     io.Writer
	Timeout time.Duration // of one process

	// Probe measures the memory's speed with so many threads; nil where that is
	// left out.
	Probe func(ctx context.Context, threads int) ([]Bandwidth, error)
}

// processes runs every engine once in every setting, block after block. All of
// a setting's engines, with the bandwidth probe among them, follow each other directly:
// only they are compared.
func (r *Runner) processes(ctx context.Context, m *Measurement) error {
	for block := range m.Blocks {
		for _, set := range m.Settings {
			for i, e := range peer.Ordered(m.Engines, block) {
				if i == len(m.Engines)/2 {
					if err := r.probe(ctx, m, set, block); err != nil {
						return err
					}
				}
				s, err := r.one(ctx, e, set, block, m.Rounds)
				if err != nil {
					return err
				}
				m.Samples = append(m.Samples, s)
				fmt.Fprintf(r.Log, "block %d of %d, %s, %-28s read+build %7s  prefill %6s  decode %6s  first token %7s ms\n",
					block+1, m.Blocks, set, e.Name, figures.Text(Load.Of(s), 1), figures.Text(Prefill.Of(s), 1), figures.Text(Decode.Of(s), 2), figures.Text(FirstToken.Of(s), 1))
			}
		}
	}
	return nil
}

// one runs a process and reads what it printed.
func (r *Runner) one(ctx context.Context, e Engine, set Setting, block, rounds int) (Sample, error) {
	s := Sample{Block: block, Setting: set, Engine: e.Name}
	argv, env := e.command(set, r.Models[set.Model], rounds)
	stdout, peak, err := peer.Capture(ctx, r.Timeout, argv, env)
	if err != nil {
		return s, fmt.Errorf("%s, %s: %w", e.Name, set, err)
	}
	if s.Output, err = peer.ParseOutput(stdout); err != nil {
		return s, fmt.Errorf("%s, %s: output not understood: %w", e.Name, set, err)
	}
	if len(s.Output.Rounds) != rounds {
		return s, fmt.Errorf("%s, %s: %d rounds came out, %d were asked for", e.Name, set, len(s.Output.Rounds), rounds)
	}
	s.PeakMiB = peak
	return s, nil
}
