// Command peers measures introgen beside other engines on this machine: candle
// and llama.cpp, which it builds, and the memory's own speed. Everything that is
// compared runs interleaved, block by block, and the result is written into
// docs/peers.md. See `go run ./scripts/peers -h`.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/scripts/peers/peer"
	"github.com/introgen/introgen/system/files"
	"github.com/introgen/introgen/system/machine"
)

// options are the command line.
type options struct {
	setupOnly bool
	blocks    int
	rounds    int
	engines   string
	introgen  string
	out       string
	samples   string
	render    string
	loaded    bool
	neighbour time.Duration
}

func main() {
	var o options
	flag.BoolVar(&o.setupOnly, "setup", false, "only build the peers")
	flag.IntVar(&o.blocks, "blocks", 5, "how often every engine is run in every setting")
	flag.IntVar(&o.rounds, "rounds", 3, "generations in each process, at least 2: the first is the fresh process's own figure")
	flag.StringVar(&o.engines, "engines", "", "only engines whose name contains one of these `WORDS`, separated by commas (introgen is always run)")
	flag.StringVar(&o.introgen, "introgen", "", "the introgen `PROGRAM` to measure (default: built from this module)")
	flag.StringVar(&o.out, "out", filepath.Join("docs", "peers.md"), "`FILE` whose measured part is replaced; - is standard output")
	flag.StringVar(&o.samples, "samples", "", "`FILE` to keep everything measured in, as JSON (default: peers/last.json in introgen's cache folder)")
	flag.StringVar(&o.render, "render", "", "measure nothing: write the report from the `FILE` of an earlier run")
	flag.BoolVar(&o.loaded, "loaded", true, "also measure beside a busy neighbour")
	flag.DurationVar(&o.neighbour, "neighbour", 0, "be the busy neighbour for this long; used by the program itself")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.run(ctx, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "peers: %v\n", err)
		os.Exit(1)
	}
}

func (o options) run(ctx context.Context, stdout, log io.Writer) error {
	if o.neighbour > 0 {
		beNeighbour(ctx, o.neighbour)
		return nil
	}
	if flag.NArg() > 0 {
		return fmt.Errorf("%q is not expected: there are only flags, see -h", flag.Arg(0))
	}
	if o.blocks < 1 || o.rounds < 2 {
		return fmt.Errorf("-blocks %d -rounds %d: at least 1 block and 2 rounds are needed", o.blocks, o.rounds)
	}
	if o.render != "" {
		m, err := loadMeasurement(o.render)
		if err != nil {
			return err
		}
		return o.report(m, stdout)
	}
	m, err := o.measure(ctx, log)
	if err != nil || o.setupOnly {
		return err
	}
	return o.report(m, stdout)
}

// measure builds what is missing, runs everything, and keeps the samples.
func (o options) measure(ctx context.Context, log io.Writer) (*Measurement, error) {
	cache, err := files.Cache()
	if err != nil {
		return nil, err
	}
	m := &Measurement{Date: time.Now().UTC(), Machine: peer.ThisMachine(), Blocks: o.blocks, Rounds: o.rounds}
	setup := peer.Setup{Cache: cache, Machine: m.Machine, Log: log}
	if err := o.prepare(ctx, &setup, m); err != nil || o.setupOnly {
		return m, err
	}
	runner := Runner{Log: log, Timeout: processLimit, Probe: measureBandwidth, Models: map[string]string{}}
	if err := runner.openModels(m); err != nil {
		return nil, err
	}
	m.Busy[0] = max(0, machine.Load())
	if m.Busy[0] > peer.Quiet {
		fmt.Fprintf(log, "note: this machine is not quiet (load average %s): the ratios will spread\n", figures.Text(m.Busy[0], 1))
	}
	err = runner.processes(ctx, m)
	m.Busy[1] = max(0, machine.Load())
	if err == nil && o.loaded {
		err = runner.loaded(ctx, m)
	}
	path := o.samples
	if path == "" {
		path = filepath.Join(cache, "peers", "last.json")
	}
	if err := errors.Join(err, m.save(path)); err != nil {
		return nil, err
	}
	fmt.Fprintf(log, "everything measured is kept in %s\n", path)
	return m, nil
}

// prepare builds introgen and the peers. A peer whose tools are missing is left
// out and named in the report; introgen must build.
func (o *options) prepare(ctx context.Context, setup *peer.Setup, m *Measurement) error {
	if o.introgen == "" && !o.setupOnly {
		program, err := setup.Introgen(ctx, "peers")
		if err != nil {
			return err
		}
		o.introgen = program
	}
	if !o.setupOnly {
		m.Revision = peer.Revision(ctx, o.introgen)
	}
	m.Engines = introgenEngines(o.introgen, "introgen "+m.Revision)
	for _, other := range []struct {
		name  string
		build func() ([]Engine, error)
	}{{"llama.cpp", func() ([]Engine, error) { return llamaEngines(ctx, setup) }}, {"candle", func() ([]Engine, error) { return candleEngines(ctx, setup) }}} {
		engines, err := other.build()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(setup.Log, "%s is left out: %v\n", other.name, err)
			m.Absent = append(m.Absent, other.name)
			if o.setupOnly {
				return err
			}
		}
		for _, e := range engines {
			if o.wanted(e.Name) {
				m.Engines = append(m.Engines, e)
			}
		}
	}
	return nil
}

func (o options) wanted(name string) bool {
	return o.engines == "" || slices.ContainsFunc(strings.Split(o.engines, ","), func(word string) bool {
		return word != "" && strings.Contains(name, word)
	})
}

// report writes the measured part of the page.
func (o options) report(m *Measurement, stdout io.Writer) error {
	text := m.Report()
	if o.out == "-" {
		_, err := io.WriteString(stdout, text)
		return err
	}
	return peer.ReplaceMeasured(o.out, text)
}
