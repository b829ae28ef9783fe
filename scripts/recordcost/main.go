// Command recordcost measures what it costs a program to be recorded: it runs one
// that generates on candle (scripts/candle-program builds it) recorded and not, in
// turns, and compares its own decode times in pairs.
//
//	go run ./scripts/recordcost -introgen bin/introgen -- "$(scripts/candle-program)" MODEL.gguf --tokens 40
//
// The program prints ids to stdout, which must be the same in every run, and its time
// for a token to stderr ("decode 67.7ms a token"). A pair that runs before counts for
// nothing: it fills the caches.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/store"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "recordcost:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("recordcost", flag.ContinueOnError)
	introgen := f.String("introgen", "bin/introgen", "introgen, which records")
	pairs := f.Int("pairs", 12, "pairs of runs")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() == 0 || *pairs < 1 {
		return errors.New("a program is wanted, and a number of pairs from 1 on")
	}
	dir, err := os.MkdirTemp("", "recordcost-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "run"+recording.Ending)
	plain := f.Args()
	watched := append([]string{*introgen, "record", "--quiet", "-o", path, "--"}, plain...)
	var alone, recorded []float64
	output := ""
	for i := range *pairs + 1 {
		pair := [][]string{plain, watched}
		if i%2 == 1 {
			pair[0], pair[1] = pair[1], pair[0]
		}
		for _, argv := range pair {
			decode, out, err := decoded(ctx, argv)
			if err != nil {
				return err
			}
			if output == "" {
				output = out
			}
			if out != output {
				return fmt.Errorf("%q printed %q, and before %q", argv, out, output)
			}
			if i == 0 {
				continue
			}
			if argv[0] == *introgen {
				recorded = append(recorded, decode)
			} else {
				alone = append(alone, decode)
			}
		}
	}
	ratios := make([]float64, len(alone))
	for i := range alone {
		ratios[i] = recorded[i] / alone[i]
	}
	for _, x := range [][]float64{ratios, alone, recorded} {
		slices.Sort(x)
	}
	fmt.Printf("%d pairs, ids identical; decode alone %.2f ms, recorded %.2f ms (medians)\n", *pairs, median(alone), median(recorded))
	low, high, sure := interval(ratios)
	fmt.Printf("recorded/alone: median of the pairs %.4f, %.4f to %.4f with %.1f %%\n", median(ratios), low, high, 100*sure)
	return dispatched(path)
}

// median is that of sorted values.
func median(x []float64) float64 { return (x[(len(x)-1)/2] + x[len(x)/2]) / 2 }

// interval encloses the median of what sorted values are drawn from with at least
// 95 %, where so many are there: two of the values themselves, by the sign test
// (H. A. David, H. N. Nagaraja, Order Statistics, 7.1). sure is how sure it is.
func interval(x []float64) (low, high, sure float64) {
	n := len(x)
	outside := math.Pow(0.5, float64(n)) // that none lies below the median
	sure = 1 - 2*outside
	k, term := 0, outside
	for ; k+1 < n/2; k++ {
		term *= float64(n-k) / float64(k+1)
		if outside += term; 1-2*outside < 0.95 {
			break
		}
		sure = 1 - 2*outside
	}
	return x[k], x[n-1-k], sure
}

// said is the time for a token that the program prints.
var said = regexp.MustCompile(`decode ([0-9.]+(?:ns|µs|ms|s)) a token`)

// decoded runs a program, and returns its decode time in milliseconds and its output.
func decoded(ctx context.Context, argv []string) (ms float64, out string, err error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), store.KeepEnv+"=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	if err != nil {
		return 0, "", fmt.Errorf("%q: %w: %s", argv, err, &stderr)
	}
	m := said.FindStringSubmatch(stderr.String())
	if m == nil {
		return 0, "", fmt.Errorf("%q did not say how long a token took: %s", argv, &stderr)
	}
	d, err := time.ParseDuration(m[1])
	return float64(d) / 1e6, string(b), err
}

// dispatched prints what an event cost in the last run that was recorded.
func dispatched(path string) error {
	f, err := recording.Open(path)
	if err != nil {
		return err
	}
	end := f.Runs[0].End
	if end == nil {
		return fmt.Errorf("%s: the recording has no end", path)
	}
	fmt.Printf("an event took %.0f ns, measured in the program; %d events lost\n", float64(end.SpanCost)/1000, end.Lost)
	return nil
}
