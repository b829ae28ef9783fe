package view

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
)

// experiment is the experiment's own figures, as it printed them.
func experiment(t *testing.T) *recording.File {
	t.Helper()
	f, err := recording.Open(filepath.Join("..", "recorded", "experiment-states.introgen"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestTables(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("LC_ALL", "C")
	var b strings.Builder
	if err := Table(&b, experiment(t)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"run 1, block 1: cold\n",
		// Of the experiment's table: build 4111.2, prefill 5869.4, first step 2144.1.
		"    1  129.0  4111.2   5869.4  2144.1 ",
		"Reduce ",
		"  wait  unattr. ",
		" 4333.7  ",
		// numpy has of its 19 later steps 2.5, 3.3, 5.504 and 5.9.
		"    1     19  2.50 (2.50–2.60)  3.30  5.50  5.90\n",
		// The later round has four of 2.4 ms, twelve of 2.5 and one each of 2.7, 2.9 and
		// 3.0, the longest at its begin.
		"\nround 2 #*****#***#********\n",
		"\n2.40 to 2.45   4  #####################\n2.45 to 2.50   0\n2.50 to 2.55  12  ######",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	t.Setenv("LC_ALL", "en_US.UTF-8")
	b.Reset()
	if err := Table(&b, experiment(t)); err != nil {
		t.Fatal(err)
	}
	if want := "\nround 2 █▇▇▇▇▇█▇▇▇█▇▇▇▇▇▇▇▇\n"; !strings.Contains(b.String(), want) {
		t.Errorf("no %q in\n%s", want, b.String())
	}
	b.Reset()
	if err := Markdown(&b, experiment(t)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "| round |") && !strings.Contains(b.String(), "| ROUND |") {
		t.Errorf("no table in\n%s", b.String())
	}
}

// TestSamplesAreAllThere: CSV and JSON have each step of the experiment's cold
// run, read with other code than wrote them.
func TestSamplesAreAllThere(t *testing.T) {
	f := experiment(t)
	var b strings.Builder
	if err := CSV(&b, f); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	steps, libraries := map[string]int{}, map[string]string{}
	for _, r := range rows[1:] {
		switch r[6] {
		case "decode step":
			steps[r[0]+" "+r[5]]++
			if r[0] == "1" && r[5] == "1" && r[8] == "1" && r[9] != "2144100000" {
				t.Errorf("the first step took %s ns", r[9])
			}
		case "library":
			if r[0] == "1" {
				libraries[r[7]] = r[9]
			}
		}
	}
	if steps["1 1"] != 20 || steps["1 2"] != 20 || len(libraries) != 10 || libraries["Gemm"] != "3828600000" {
		t.Errorf("steps by run and round %v, libraries %v", steps, libraries)
	}
	b.Reset()
	if err := JSON(&b, f); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Plan struct{ Factors []string }
		Runs []struct {
			Start  struct{ Arm string }
			Rounds []struct {
				Build int64   `json:"build_ns"`
				Steps []int64 `json:"steps_ns"`
			}
			Libraries []struct {
				Library string
				NS      int64 `json:"ns"`
			}
		}
	}
	if err := json.Unmarshal([]byte(b.String()), &doc); err != nil {
		t.Fatal(err)
	}
	r := doc.Runs[0]
	if len(doc.Runs) != len(f.Runs) || r.Start.Arm != "cold" || r.Rounds[0].Build != 4111200000 || len(r.Rounds[0].Steps) != 20 || r.Libraries[1].NS != 3828600000 {
		t.Errorf("JSON is %+v", doc)
	}
}

// TestRemarks: a run that was cut off, failed, or does not count says so.
func TestRemarks(t *testing.T) {
	span := func(id, in trace.ID, name string, n int64, end time.Duration) trace.Record {
		return trace.Record{ID: id, Parent: in, Name: name, N: n, End: end}
	}
	f := &recording.File{Broken: "cut", Runs: []*recording.Run{
		{Header: recording.Header{Command: "cpu"}, Rounds: []recording.Round{{Number: 1, Span: 1, IDs: []int32{5}, Error: "step 1: boom"}},
			Spans: []trace.Record{span(1, 0, "round", 1, 9e6), span(2, 1, "read gguf", 0, 0), span(3, 1, "build model", 0, 0), span(4, 1, "prefill", 13, 3e6), span(5, 1, "decode step", 1, 4e6)}},
		{Header: recording.Header{Command: "metal"}, End: &recording.End{Code: 1, Error: "boom"}, Start: &recording.Start{Run: 2, Arm: "warm"},
			Exit: &recording.Exit{Refused: "it was cold", Flags: []string{"load"}}},
	}}
	var b strings.Builder
	if err := Table(&b, f); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"run 1: cpu", "it was cut off", "run 2, block 0: warm", "it ended with exit code 1: boom", "it does not count: it was cold", "load", "not whole: cut",
		"    1   0.0    0.0     3.00 "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), " 4.0") {
		t.Errorf("a step that gave no token is shown:\n%s", b.String())
	}
	if d, ok := breakdown.Take(f.Runs[0]).Told[0].Token(1); !ok || d != 3*time.Millisecond {
		t.Errorf("the first token after %v", d)
	}
}

// TestFormulas: no name of a recording is a formula in CSV.
func TestFormulas(t *testing.T) {
	f := &recording.File{Runs: []*recording.Run{{Header: recording.Header{Command: "+cmd"}, Start: &recording.Start{Run: 1, Arm: "=1+1"},
		Spans: []trace.Record{{ID: 1, Name: "@device", Detail: "-x", End: 5}}}}}
	var b strings.Builder
	if err := CSV(&b, f); err != nil {
		t.Fatal(err)
	}
	if want := "1,0,'=1+1,false,'+cmd,,'@device,'-x,,5,\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
}

// FuzzViews shows whatever a file holds, in every form.
func FuzzViews(f *testing.F) {
	b, err := os.ReadFile(filepath.Join("..", "recorded", "experiment-states.introgen"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b[:min(len(b), 20_000)])
	f.Add([]byte(`{"k":"header","format":"introgen recording","version":1}` + "\n" + `{"k":"round","round":1,"span":1,"ids":[]}` + "\n" + `{"k":"span","id":1,"in":0,"name":"round","start":1,"end":-1}`))
	f.Add(programtest.Bytes(programtest.Unmarked(programtest.Cold)))
	f.Add(programtest.Bytes(programtest.Detailed()))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := recording.Read(bytes.NewReader(b), "x")
		if err != nil {
			return
		}
		for _, show := range []func(io.Writer, *recording.File) error{Table, Markdown, CSV, JSON} {
			if err := show(io.Discard, file); err != nil {
				t.Fatal(err)
			}
		}
	})
}
