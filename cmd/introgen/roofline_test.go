package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
)

// TestRooflineByHand recomputes what a traced run prints of three kernels: bytes and
// operations from the shapes of the model (30 layers, hidden 576, 9 heads of 64 with 3
// of keys and values, feed-forward 1536, 49152 tokens, Q8_0), and the time from the
// lines of the recording that say when each dispatch ran.
func TestRooflineByHand(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	if _, err := clang.Find(t.Context()); err != nil {
		t.Skipf("SKIP: needs clang 19: %v", err)
	}
	program, err := exec.LookPath("introgen")
	if err != nil {
		t.Fatal(err)
	}
	const prompt, steps = 13, 3
	path := filepath.Join(t.TempDir(), "run.introgen")
	printed, err := exec.Command(program, "metal", "1", "--trace", "--tokens", strconv.Itoa(steps), "-o", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	took, dispatches := ranFor(t, recorded)

	const perLayer = 2*576*576 + 2*192*576 + 3*1536*576 // weights
	const block = 34.0 / 32                             // bytes of one
	inputs, outputs := 30.0*(4*576+2*576+1536), 30.0*(576+2*192+576+2*1536+576)
	output := 49152 * 576.0 // also the last of the prompt's pass
	keys := 0.0
	for i := range steps {
		keys += float64(prompt + 1 + i)
	}
	rows := 60.0*prompt + prompt + 61*steps // of a norm
	for _, c := range []struct {
		kernel                 string
		dispatches, bytes, ops float64
	}{
		{"kernel_mul_mv_q8_0_f32", 1 + steps*211,
			block*(steps*30*perLayer+(steps+1)*output) + 4*steps*(inputs+outputs) + 4*(steps+1)*(576+49152),
			2 * (steps*30*perLayer + (steps+1)*output)},
		{"sdpa_vector_float_64", 30 * steps,
			30 * 4 * (steps*(9*64+9*64) + keys*2*3*64),
			30 * 9 * (steps*64 + keys*(4*64+5))},
		{"rmsnorm_f32", 61 * (steps + 1),
			4 * (rows*2*576 + 61*(steps+1)*576),
			rows * (4*576 + 4)},
	} {
		row := rowOf(t, string(printed), c.kernel)
		seconds := took[c.kernel] / 1e9
		if dispatches[c.kernel] != c.dispatches || row[1] != strconv.Itoa(int(c.dispatches)) {
			t.Errorf("%s ran %v times and is printed to have run %s, by hand %v", c.kernel, dispatches[c.kernel], row[1], c.dispatches)
		}
		for _, f := range []struct {
			what string
			got  string
			want float64
		}{{"ms", row[2], 1e3 * seconds}, {"GB/s", row[5], c.bytes / 1e9 / seconds}, {"GFLOP/s", rate(row), c.ops / 1e9 / seconds}} {
			if v, err := strconv.ParseFloat(f.got, 64); err != nil || math.Abs(v-f.want) > 0.01*f.want {
				t.Errorf("%s: %s %s, by hand %v", c.kernel, f.got, f.what, f.want)
			}
		}
	}
	again, err := exec.Command(program, "show", path).Output()
	if err != nil || !bytes.Equal(again, printed) {
		t.Errorf("shown again it is another output (%v):\n%s\nwas\n%s", err, again, printed)
	}
}

// ranFor sums up the nanoseconds and the number of dispatches of each kernel, by the
// lines of a recording.
func ranFor(t *testing.T, recorded []byte) (took, dispatches map[string]float64) {
	t.Helper()
	took, dispatches = map[string]float64{}, map[string]float64{}
	kernels := map[int]string{}
	for lines := bufio.NewScanner(bytes.NewReader(recorded)); lines.Scan(); {
		var line struct {
			K          string
			ID         int
			Kernel     string
			Operations json.RawMessage
			NS         json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		switch line.K {
		case "operation":
			kernels[line.ID] = line.Kernel
		case "executed":
			var ids []int
			var ns []float64
			if err := json.Unmarshal(line.Operations, &ids); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(line.NS, &ns); err != nil || len(ns) != len(ids) {
				t.Fatalf("%v: %d operations have %d times", err, len(ids), len(ns))
			}
			for i, id := range ids {
				took[kernels[id]] += ns[i]
				dispatches[kernels[id]]++
			}
		}
	}
	return took, dispatches
}

// rowOf is the words of the row of the kernel table that begins with the name.
func rowOf(t *testing.T, printed, kernel string) []string {
	t.Helper()
	for line := range strings.Lines(printed) {
		if words := strings.Fields(line); len(words) > 6 && words[0] == kernel {
			return words
		}
	}
	t.Fatalf("no row of %s in\n%s", kernel, printed)
	return nil
}

// rate is the GFLOP/s of a row, behind the GB/s and, where there are limits, their
// share.
func rate(row []string) string {
	if len(row) > 7 {
		return row[7]
	}
	return row[6]
}
