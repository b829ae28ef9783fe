package browsertest

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/introgen/introgen/results/breakdown/breakdowntest"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
)

// recorded is one of results/recorded.
func recorded(t *testing.T, name string) *recording.File {
	t.Helper()
	f, err := recording.Open(filepath.Join("..", "..", "recorded", name+recording.Ending))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// blocks is how many a plan has here: enough for intervals.
const blocks = 8

// compared is a comparison with as many runs as an interval needs; slower makes all
// of its times longer.
func compared(slower float64) *recording.File {
	arms := []recording.Arm{{Name: "cold", State: recording.StateCold, Args: []string{"metal", "1", "--nonce"}, Levels: map[string]string{"cache": "cold"}},
		{Name: "warm-cache", State: recording.StateWarmCache, Args: []string{"metal", "1"}, Levels: map[string]string{"cache": "warm"}}}
	return programtest.Plan("compare", []string{"cache"}, blocks, arms, func(arm, block int) *programtest.Recording {
		s := programtest.Cold
		if arm == 1 {
			s = programtest.Warm
		}
		s.Quick *= (1 + 0.01*float64(block)) / slower
		return programtest.Engine(s)
	})
}

// swept is a sweep with as many runs as an interval needs.
func swept() *recording.File {
	var arms []recording.Arm
	levels := []int{1, 2, 4, 8}
	for _, n := range levels {
		arms = append(arms, recording.Arm{Name: fmt.Sprintf("N=%d", n), Args: []string{"record", "--", "./generate"}, Levels: map[string]string{"N": fmt.Sprint(n)}})
	}
	return programtest.Plan("sweep", []string{"N"}, blocks, arms, func(arm, block int) *programtest.Recording {
		return programtest.Steps(levels[arm], 8, block%2 == 0)
	})
}

// crashed is a recording that ends in the middle of a line.
func crashed(t *testing.T) *recording.File {
	t.Helper()
	all := programtest.Bytes(programtest.Engine(programtest.Cold))
	f, err := recording.Read(bytes.NewReader(all[:len(all)*2/3]), "crashed.introgen")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// single is a run of the engine with so many rounds and steps.
func single(rounds, steps, buffers int) *recording.File {
	return &recording.File{Runs: []*recording.Run{breakdowntest.Metal(rounds, steps, buffers)}}
}

// subjects are one of each kind of recording.
func subjects(t *testing.T) map[string]*recording.File {
	t.Helper()
	return map[string]*recording.File{
		"a compare of the experiment": recorded(t, "experiment-states"),
		"a compare with intervals":    compared(1),
		"a sweep of the experiment":   recorded(t, "experiment-sweep"),
		"a sweep with intervals":      swept(),
		"a single run":                single(2, 20, 5),
		"a marked program":            programtest.File(programtest.Marked(programtest.Cold)),
		"an unmarked program":         programtest.File(programtest.Unmarked(programtest.Cold)),
		"a program of threads":        programtest.File(programtest.Detailed()),
		"a crashed run":               crashed(t),
	}
}
