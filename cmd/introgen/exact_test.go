package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/cpu/kernel"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
)

// The exact answers: dequantized weights, float64 everywhere, activations not
// quantized.
const (
	exactText = "Rust is a modern, high-level, statically typed, and dynamically typed programming language developed by"
	exactIDs  = "66 467 314 253 2148 28 904 29 4638 28 2091 947 30473 28 284 29444 30473 6256 1789 2452 411"
)

var exactLogits = map[string][2]string{
	models.StandIn: {
		"66 30.892009, 5714 27.092799, 504 26.958209, 54 26.871707, 39887 26.860959",
		"467 23.974427, 31307 17.055587, 19200 15.293871, 2909 14.971288, 316 14.756815",
	},
	models.Source: {
		"66 30.569245, 5714 26.815674, 504 26.587466, 54 26.496823, 39887 26.450339",
		"467 23.697046, 31307 16.890012, 19200 15.381893, 2909 14.938057, 314 14.695716",
	},
}

// largestError is how far a logit may be from the exact one.
const largestError = 0.005

// TestExactAnswers runs the command on both files with every instruction set of
// this machine, one and two threads, weights in the map and packed.
func TestExactAnswers(t *testing.T) {
	for _, file := range []string{models.StandIn, models.Source} {
		path := modeltest.Path(t, file)
		for _, set := range kernel.Names() {
			for _, flags := range []string{"--threads 1", "--threads 2", "--threads 2 --pack"} {
				if set == "generic" && (testing.Short() || flags == "--threads 1") {
					continue // plain Go is slow, and its numbers do not depend on the threads
				}
				t.Run(fmt.Sprintf("%s/%s/%s", file, set, flags), func(t *testing.T) {
					t.Setenv("INTROGEN_CPU", set)
					args := append([]string{"introgen", "cpu", "1", "--logits", "5", "--model", path}, strings.Fields(flags)...)
					var out, errs bytes.Buffer
					if code := run(context.Background(), args, &out, &errs); code != exitOK {
						t.Fatalf("exit code %d: %s", code, &errs)
					}
					checkExact(t, out.String(), exactLogits[file])
				})
			}
		}
	}
}

func checkExact(t *testing.T, out string, logits [2]string) {
	t.Helper()
	found := map[string]string{}
	for line := range strings.Lines(out) {
		if _, rest, ok := strings.Cut(strings.TrimSpace(line), "round 1] "); ok {
			name, value, _ := strings.Cut(rest, ": ")
			found[name] = value
		}
	}
	if got := found["ids"]; got != exactIDs {
		t.Errorf("ids are\n%s, want\n%s", got, exactIDs)
	}
	if got := found["text"]; got != strconv.Quote(exactText) {
		t.Errorf("text is %s, want %q", got, exactText)
	}
	for i, pass := range []string{"logits after prefill", "logits after step 1"} {
		got, want := strings.Split(found[pass], ", "), strings.Split(logits[i], ", ")
		if len(got) != len(want) {
			t.Errorf("%s: %q, want %q", pass, got, want)
			continue
		}
		for k := range want {
			var gotID, wantID int
			var gotValue, wantValue float64
			_, err1 := fmt.Sscan(got[k], &gotID, &gotValue)
			_, err2 := fmt.Sscan(want[k], &wantID, &wantValue)
			if err1 != nil || err2 != nil || gotID != wantID || !(math.Abs(gotValue-wantValue) <= largestError) {
				t.Errorf("%s, place %d: %q, want %q to within %v", pass, k+1, got[k], want[k], largestError)
			}
		}
	}
}
