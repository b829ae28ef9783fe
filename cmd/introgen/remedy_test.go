package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/start"
)

// TestRemedyOfARun: a start that was just made, replayed unchanged, takes what was
// recorded; and what remedy says of it has the remedies that compile otherwise.
func TestRemedyOfARun(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	if _, err := clang.Find(t.Context()); err != nil {
		t.Skipf("SKIP: needs clang 19: %v", err)
	}
	path := filepath.Join(t.TempDir(), "a"+recording.Ending)
	for _, args := range [][]string{{"metal", "1", "--nonce", "--tokens", "2", "-o", path}, {"remedy", path, "--threads", "4"}} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), append([]string{"introgen"}, args...), &out, &errs); code != exitOK {
			t.Fatalf("%q: exit code %d, %s", args, code, &errs)
		}
		if args[0] != "remedy" {
			continue
		}
		for _, want := range []string{"\nearly ", "\nconcurrent ", "\narchive ", "\nwarmup ", "\nbehind ", "measure it: introgen metal 1 --compile early\n", "4 compile threads"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("without %q:\n%s", want, &out)
			}
		}
		if strings.Contains(out.String(), "believe none") {
			t.Errorf("the model does not fit:\n%s", &out)
		}
	}
	s, err := start.Of(breakdown.Take(open(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Compiles); n != 31 || len(s.Goals) != 2 {
		t.Errorf("%d libraries and pipelines, want 31; %d goals, want 2 tokens", n, len(s.Goals))
	}
	for _, c := range s.Check() {
		if c.Off() > start.Exact {
			t.Errorf("%s: replayed %v, recorded %v", c.What, c.Replay, c.Recorded)
		}
	}
}

// TestRemedyUsage: what is no number of threads is refused, with what is allowed.
func TestRemedyUsage(t *testing.T) {
	states := filepath.Join("..", "..", "results", "recorded", "experiment-states"+recording.Ending)
	for _, args := range [][]string{{"remedy", "--threads", "0"}, {"remedy", states, "--threads", "-2"}, {"remedy", states, "--threads", "many"}, {"remedy", states, "--threads", "1000000"}} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), append([]string{"introgen"}, args...), &out, &errs); code != exitUsage || !strings.Contains(errs.String(), "1 to 1024 compiles at once are allowed") {
			t.Errorf("%q: exit code %d, %s", args, code, &errs)
		}
	}
	p, err := plannedBy(t, "remedy", "--tokens", "3")
	if err != nil || len(p.arms) != 1 || p.arms[0].Cache == "" || strings.Join(p.arms[0].Args, " ") != "metal 1 --tokens 3" {
		t.Errorf("planned %+v, %v", p.arms, err)
	}
	if _, err := plannedBy(t, "remedy", "--threads", "x"); err == nil {
		t.Error("planned for x threads")
	}
}

// TestRemedyPlanKeeps: a plan takes the place of no recording that it is made of, and
// flags that would do nothing beside --plan are refused.
func TestRemedyPlanKeeps(t *testing.T) {
	dir := t.TempDir()
	states, err := os.ReadFile(filepath.Join("..", "..", "results", "recorded", "experiment-states"+recording.Ending))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a"+recording.Ending)
	if err := os.WriteFile(path, states, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.json")
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(dir, "fresh.json")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--measure", path}, "--measure makes runs of its own"},
		{[]string{"--plan", path, path}, "the recording"},
		{[]string{"--plan", link, path}, "the recording"},
		{[]string{"--plan", filepath.Join(dir, "other"+recording.Ending), path}, "a plan is no recording"},
		{[]string{"--plan", fresh, "--measure", path}, "--measure"},
		{[]string{"--plan", fresh, "--threads", "8", path}, "--threads"},
		{[]string{"--plan", fresh, "-o", fresh + ".html", path}, "--output"},
		{[]string{"--plan", fresh, "--runs", "8", path}, "--runs"},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), append([]string{"introgen", "remedy"}, c.args...), &out, &errs); code != exitUsage || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%q: exit code %d, %s, want %q", c.args, code, &errs, c.want)
		}
	}
	if is, err := os.ReadFile(path); err != nil || !bytes.Equal(is, states) {
		t.Errorf("the recording has %d bytes, and had %d: %v", len(is), len(states), err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 2 {
		t.Errorf("there are %v, want two files: %v", all, err)
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"introgen", "remedy", "--plan", fresh, path}, &out, &errs); code != exitOK {
		t.Errorf("exit code %d, %s", code, &errs)
	}
}
