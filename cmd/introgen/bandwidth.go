package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/cpu/arithmetic"
	"github.com/introgen/introgen/engine/cpu/bandwidth"
	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/system/terminal"
	"github.com/urfave/cli/v2"
)

func bandwidthCommand() *cli.Command {
	return &cli.Command{
		Name:      "bandwidth",
		Usage:     "measure how fast this machine reads memory, multiplies and adds: the limits of every token",
		ArgsUsage: " ",
		Description: "A decode step reads every weight once, so no step is faster than the model's bytes divided\n" +
			"by this. Measured with one thread and with --threads, from pages of the usual size and from\n" +
			"huge ones; best and median of the rounds.\n" +
			"A long prompt is bound by arithmetic instead: the last lines say how many float32 operations a second\n" +
			"registers allow, a multiply-add counted as two.\n\n" +
			"Examples:\n" +
			"   introgen bandwidth\n" +
			"   introgen bandwidth --threads 4 --bytes 1000000000",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "threads", Usage: "the most threads `N` to read and to compute with", Value: cpu.DefaultThreads()},
			&cli.IntFlag{Name: "bytes", Usage: "how many bytes `N` to read", Value: bandwidth.ModelBytes},
			&cli.IntFlag{Name: "rounds", Usage: "how often `N` to read them, and to compute", Value: bandwidth.DefaultRounds},
		},
		Action: runBandwidth,
	}
}

func runBandwidth(c *cli.Context) error {
	if c.NArg() > 0 {
		return usagef("bandwidth takes no argument, %q is too many", c.Args().First())
	}
	most := c.Int("threads")
	for _, f := range []struct {
		name          string
		least, most   int
		value         int
		whatIsCounted string
	}{
		{"threads", 1, bandwidth.MaxThreads, most, "threads"},
		{"bytes", bandwidth.MinBytes, bandwidth.MaxBytes, c.Int("bytes"), "bytes"},
		{"rounds", 1, bandwidth.MaxRounds, c.Int("rounds"), "rounds"},
	} {
		if f.value < f.least || f.value > f.most {
			return usagef("--%s %d: %d to %d %s are allowed", f.name, f.value, f.least, f.most, f.whatIsCounted)
		}
	}
	status := newStatus(c.App.ErrWriter)
	defer status.Clear()
	for _, threads := range slices.Compact([]int{1, most}) {
		for _, huge := range []bool{false, true} {
			if err := c.Context.Err(); err != nil {
				return err
			}
			status.Set("reading with %d threads", threads)
			r, err := bandwidth.Run(c.Context, bandwidth.Options{Bytes: c.Int("bytes"), Threads: threads, Huge: huge, Rounds: c.Int("rounds")})
			if err != nil {
				return err
			}
			status.Clear()
			if _, err := fmt.Fprintln(c.App.Writer, bandwidthLine(r)); err != nil {
				return err
			}
		}
	}
	return printArithmetic(c, status, most)
}

// printArithmetic measures and prints how fast registers are multiplied and added.
func printArithmetic(c *cli.Context, status *terminal.Line, most int) error {
	for _, threads := range slices.Compact([]int{1, most}) {
		status.Set("computing with %d threads", threads)
		r, err := arithmetic.Run(c.Context, arithmetic.Options{Threads: threads, Rounds: c.Int("rounds")})
		if err != nil {
			return err
		}
		status.Clear()
		if _, err := fmt.Fprintln(c.App.Writer, arithmeticLine(r)); err != nil {
			return err
		}
	}
	return nil
}

// arithmeticLine writes a result as one line, the best rate first.
func arithmeticLine(r *arithmetic.Result) string {
	return fmt.Sprintf("%s, float32: %s GFLOP/s best, %s GFLOP/s median of %d (%s)",
		figures.Number(r.Threads, "thread"), figures.Text(r.Best, 1), figures.Text(r.Median, 1), len(r.Samples), r.Kernel)
}

// bandwidthLine writes a result as one line, the best rate first.
func bandwidthLine(r *bandwidth.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s pages: %s GB/s best, %s GB/s median of %d (%s MB, %s)",
		figures.Number(r.Threads, "thread"), r.Pages(), figures.Text(r.Best, 1), figures.Text(r.Median, 1), len(r.Samples), figures.Text(float64(r.Bytes)/1e6, 1), r.Kernel)
	if r.Huge && r.HugeKnown {
		fmt.Fprintf(&b, "; huge pages held %s of it", figures.Percent(float64(r.HugeBytes)/float64(r.Bytes)))
	}
	return b.String()
}
