// Command verdicts shows on the machine that it runs on whether introgen's
// verdicts hold: it compares a command line with itself again and again, which
// should be called a difference about one time in twenty, and with one that is
// slowed down by a known part, which should be found. The metric is one for
// all, the median decode step. A calm machine is needed for the second half: on
// a busy one it says what could have been found.
//
//	go run ./scripts/verdicts -introgen bin/introgen -keep DIR
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/bench"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
)

// What must be shown: of so many comparisons of equal things at most so many
// differ at 5 %; of so many with a planted slowdown at least so many are found.
const (
	same, sameRuns, mostSame    = 20, 6, 3
	slow, slowRuns, leastSlowed = 10, 12, 8
)

func main() {
	introgen := flag.String("introgen", filepath.Join("bin", "introgen"), "the `PROGRAM`")
	line := flag.String("line", "cpu 2 --tokens 40 --threads 1", "the `COMMAND LINE` of all runs")
	percent := flag.Float64("slow", 5, "the planted slowdown of each decode step, in `PERCENT`")
	keep := flag.String("keep", "", "keep the recordings in this `FOLDER`")
	only := flag.String("only", "", "make only one half: same or slow")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	v := verdicts{introgen: *introgen, line: *line, percent: *percent, folder: *keep}
	if err := v.show(ctx, *only); err != nil {
		fmt.Fprintln(os.Stderr, "verdicts:", err)
		stop()
		os.Exit(1)
	}
}

type verdicts struct {
	introgen, line, folder string
	percent                float64
}

func (v *verdicts) show(ctx context.Context, only string) error {
	if only != "" && only != "same" && only != "slow" {
		return fmt.Errorf("-only %q is neither same nor slow", only)
	}
	if v.folder == "" {
		dir, err := os.MkdirTemp("", "verdicts-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		v.folder = dir
	} else if err := os.MkdirAll(v.folder, 0o777); err != nil {
		return err
	}
	var failed error
	if only != "slow" {
		differ, err := v.repeat(ctx, "same", same, sameRuns, v.line)
		if err != nil {
			return err
		}
		fmt.Printf("equal things: %d of %d comparisons are called different at 5 %%; at most %d are allowed\n\n", differ, same, mostSame)
		if differ > mostSame {
			failed = errors.New("too many equal things are called different")
		}
	}
	if only != "same" {
		slowed := v.line + " --fault step,slow=" + strconv.FormatFloat(v.percent, 'f', -1, 64) + "%"
		found, err := v.repeat(ctx, "slow", slow, slowRuns, slowed)
		if err != nil {
			return err
		}
		fmt.Printf("a slowdown of %v %%: found in %d of %d comparisons; at least %d are wanted\n", v.percent, found, slow, leastSlowed)
		if found < leastSlowed {
			failed = errors.Join(failed, errors.New("a planted slowdown is not found often enough"))
		}
	}
	return failed
}

// repeat compares the line with another so many times, prints each verdict, and
// counts those that call the other one slower; of equal things, different.
func (v *verdicts) repeat(ctx context.Context, name string, times, runs int, other string) (count int, err error) {
	fmt.Printf("%s: %d runs a side of %q and %q\n", name, runs, v.line, other)
	fmt.Println("   ratio  95 % interval       p  detects  tainted")
	for i := range times {
		path := filepath.Join(v.folder, fmt.Sprintf("%s-%02d%s", name, i+1, recording.Ending))
		r, tainted, err := v.compare(ctx, path, runs, other)
		if err != nil {
			return count, err
		}
		verdict := ""
		if r.Ratio.Significant && (name == "same" || r.Ratio.Ratio > 1) {
			count++
			verdict = "  different"
		}
		fmt.Printf("%8s  [%s, %s]  %s  %7s  %2d of %d%s\n", figures.Text(r.Ratio.Ratio, 4), figures.Text(r.Ratio.Lo, 4), figures.Text(r.Ratio.Hi, 4), figures.Text(r.Ratio.P, 3), figures.Percent(r.Ratio.MDE), tainted, 2*runs, verdict)
	}
	return count, nil
}

func (v *verdicts) compare(ctx context.Context, path string, runs int, other string) (row bench.Row, tainted int, err error) {
	cmd := exec.CommandContext(ctx, v.introgen, "bench", "--runs", strconv.Itoa(runs), "--metric", metrics.Decode.Key, "-o", path, v.line, other)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Env = append(os.Environ(), "INTROGEN_KEEP=0")
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return row, 0, fmt.Errorf("%s: %w: %s", cmd, err, strings.TrimSpace(said.String()))
	}
	f, err := recording.Open(path)
	if err != nil {
		return row, 0, err
	}
	a, err := bench.Of(breakdown.Of(f), []metrics.Metric{metrics.Decode})
	if err != nil {
		return row, 0, fmt.Errorf("%s: %w", path, err)
	}
	for _, arm := range a.Arms {
		tainted += arm.Flagged
	}
	if len(a.Rows) != 2 {
		return row, 0, fmt.Errorf("%s: %d of two arms have decode steps: %s", path, len(a.Rows), strings.Join(a.Notes, "; "))
	}
	return a.Rows[1], tainted, nil
}
