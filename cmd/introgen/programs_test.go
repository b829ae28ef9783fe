package main

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/introgen/introgen/bench/plan"
	"github.com/introgen/introgen/cmd/introgen/commandline"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/urfave/cli/v2"
)

// plannedBy is what a command line plans, without its runs.
func plannedBy(t *testing.T, args ...string) (planned, error) {
	t.Helper()
	var out, errs bytes.Buffer
	args = append([]string{"introgen"}, args...)
	app := newApp(&out, &errs)
	app.Metadata = map[string]any{sessionKey: newSession(trace.New(), args, &errs)}
	var got planned
	for _, c := range app.Commands {
		for _, p := range planCommands() {
			if p.Name == c.Name {
				c.Action = func(c *cli.Context) (err error) {
					got, err = p.plan(c)
					return err
				}
			}
		}
	}
	err := commandline.Run(t.Context(), app, args, flagChoices)
	return got, err
}

// TestProgramStates: each state of a program is a run of record, with a nonce where
// nothing may be in the cache, and marks where they are given.
func TestProgramStates(t *testing.T) {
	p, err := plannedBy(t, "compare", "--states", "cold,cold-natural,cold-half,warm-process", "--mark", "^a=b=prefill", "--runs", "3", "--", "./chat", "-n", "20", "--", "x")
	if err != nil {
		t.Fatal(err)
	}
	line := []string{"--mark", "^a=b=prefill", "--", "./chat", "-n", "20", "--", "x"}
	level := func(state string) map[string]string { return map[string]string{"cache": state} }
	want := []recording.Arm{
		{Name: "cold", State: recording.StateCold, Args: append([]string{"record", "--quiet", "--nonce"}, line...), Levels: level("cold")},
		{Name: "cold-natural", State: recording.StateColdNatural, Args: append([]string{"record", "--quiet"}, line...), Levels: level("cold-natural")},
		{Name: "cold-half", State: recording.StateColdNatural, Cache: plan.CacheHalf, Args: append([]string{"record", "--quiet"}, line...), Levels: level("cold-half")},
		{Name: "warm-cache", State: recording.StateWarmCache, Args: append([]string{"record", "--quiet"}, line...), Levels: level("warm-cache")},
	}
	if !reflect.DeepEqual(p.arms, want) || !reflect.DeepEqual(p.factors, []string{"cache"}) {
		t.Errorf("planned %+v by %v", p.arms, p.factors)
	}
	p, err = plannedBy(t, "compare", "--", "./chat")
	if err != nil || len(p.arms) != 2 || p.arms[0].Name != "cold" || p.arms[1].Name != "warm-cache" {
		t.Errorf("by default %+v, %v", p.arms, err)
	}
	p, err = plannedBy(t, "bill", "--", "./chat")
	if err != nil || len(p.arms) != 1 || p.arms[0].State != recording.StateCold {
		t.Errorf("bill %+v, %v", p.arms, err)
	}
}

// TestProgramSweep: variables and arguments are crossed, each run with its own.
func TestProgramSweep(t *testing.T) {
	p, err := plannedBy(t, "sweep", "--env", "N=1,50", "--arg", "-ngl {0,99}", "--", "./chat", "model")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range p.arms {
		if a.State != recording.StateWarmCache || len(a.Env) != 1 {
			t.Errorf("arm %+v", a)
		}
		got = append(got, a.Name+": N="+a.Env["N"]+" "+strings.Join(a.Args, " "))
	}
	want := []string{"N=1 ngl=0: N=1 record --quiet -- ./chat model -ngl 0", "N=1 ngl=99: N=1 record --quiet -- ./chat model -ngl 99",
		"N=50 ngl=0: N=50 record --quiet -- ./chat model -ngl 0", "N=50 ngl=99: N=50 record --quiet -- ./chat model -ngl 99"}
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(p.factors, []string{"N", "ngl"}) {
		t.Errorf("planned %q by %v", got, p.factors)
	}
	p, err = plannedBy(t, "sweep", "--arg", "--gpu-layers={0,99}", "--", "./chat")
	if err != nil || p.arms[1].Args[4] != "--gpu-layers=99" || p.factors[0] != "gpu-layers" {
		t.Errorf("planned %+v, %v", p.arms, err)
	}
}

func TestProgramBench(t *testing.T) {
	p, err := plannedBy(t, "bench", "metal 1", "--", "introgen record --mark 'a b=prefill' -- ./chat 'the model' -o x")
	if err != nil || len(p.arms) != 2 {
		t.Fatal(p, err)
	}
	if want := []string{"record", "--mark", "a b=prefill", "--", "./chat", "the model", "-o", "x"}; !reflect.DeepEqual(p.arms[1].Args, want) {
		t.Errorf("planned %q", p.arms[1].Args)
	}
}

// TestProgramUsage: what cannot be is one line that says what is wanted.
func TestProgramUsage(t *testing.T) {
	for line, want := range map[string]string{
		"compare --":                                "a program is wanted behind --",
		"compare x --":                              `"x" stands before --`,
		"compare 1 -- ./p":                          `"1" stands before --`,
		"compare --tokens 3 -- ./p":                 "--tokens is a setting of introgen's own engine",
		"compare --kernels own -- ./p":              "--kernels is a setting of introgen's own engine",
		"compare --states cpu -- ./p":               `a program has no state "cpu": cold, warm-cache, warm-process, cold-natural, cold-half are allowed`,
		"compare --states warmish -- ./p":           `"warmish" is not known`,
		"compare --mark x":                          "--mark is for a program",
		"sweep -- ./p":                              "there is nothing to sweep",
		"sweep --env N=1,2":                         "--env is for a program",
		"sweep --env N -- ./p":                      "NAME=VALUE,VALUE… is wanted",
		"sweep --env 1N=1 -- ./p":                   "NAME=VALUE,VALUE… is wanted",
		"sweep --env N=1,,2 -- ./p":                 "one of its values is empty",
		"sweep --env N=1,1 -- ./p":                  `the value "1" stands there twice`,
		"sweep --env N=1 --env N=2 -- ./p":          "N is swept twice",
		"sweep --env INTROGEN_RECORD=1,2 -- ./p":    "introgen sets INTROGEN_RECORD itself for every program that it records",
		"sweep --env INTROGEN_NONCE=a,b -- ./p":     "introgen sets INTROGEN_NONCE itself",
		"sweep --arg -n -- ./p":                     "its values are wanted in braces",
		"sweep --arg {1,2}{3,4} -- ./p":             "one pair of braces is wanted",
		"sweep --arg {} -- ./p":                     "one of its values is empty",
		"sweep --threads 2 --env N=1 -- ./p":        "--threads is a setting of introgen's own engine",
		"sweep --metric speed --env N=1 -- ./p":     `--metric "speed" is not known`,
		"bench record":                              "a program is wanted behind --",
		"overhead record":                           "no command that generates",
		"sweep --env N=" + many(65) + " -- ./p":     "the settings cross to 65 kinds of runs; at most 64 are allowed",
		"compare --states cold --with --x=1 -- ./p": "--with is a setting of introgen's own engine",
	} {
		_, err := plannedBy(t, strings.Fields(line)...)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || exitCode(t.Context(), err) != exitUsage {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	if _, err := plannedBy(t, "bench", "record -o x -- ./p"); err == nil || !strings.Contains(err.Error(), "belongs to the command that makes the runs") {
		t.Errorf("error %v", err)
	}
}

// many are n values.
func many(n int) string {
	values := make([]string, n)
	for i := range values {
		values[i] = strconv.Itoa(i)
	}
	return strings.Join(values, ",")
}

// FuzzSwept: whatever is given as a variable or an argument, it is refused in a line
// or has values that are told apart.
func FuzzSwept(f *testing.F) {
	for _, seed := range []string{"N=1,10,50", "--flag={0,99}", "-ngl {0,99}", "{", "a}{b", "N={1,2}", "'x", "{1,2} {3}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func(string) (swept, error){readEnv, readArg} {
			s, err := read(text)
			if err != nil {
				if exitCode(t.Context(), err) != exitUsage {
					t.Errorf("%q: %v", text, err)
				}
				continue
			}
			seen := map[string]bool{}
			for _, level := range s.levels {
				a := s.at(recording.Arm{Args: []string{"./p"}}, level)
				if line := strings.Join(a.Args, "\x00") + "\x01" + a.Env[s.env]; seen[line] || s.factor == "" || level == "" {
					t.Errorf("%q: %q gives %+v", text, level, a)
				} else {
					seen[line] = true
				}
			}
			if len(s.levels) == 0 {
				t.Errorf("%q has no values", text)
			}
		}
	})
}
