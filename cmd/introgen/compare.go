package main

import (
	"slices"
	"strings"

	"github.com/introgen/introgen/bench/plan"
	"github.com/introgen/introgen/results/answers/compare"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/shellwords"
	"github.com/urfave/cli/v2"
)

// knownStates are the states that compare knows, in the order of its columns.
var knownStates = []string{recording.StateCold, recording.StateColdNatural, coldHalf, recording.StateColdFile, recording.StateWarmCache,
	recording.StateWarmProcess, recording.StateCPU}

// coldHalf is the state cold-natural with a cache that holds a part.
const coldHalf = "cold-half"

func comparePlan() planCommand {
	return planCommand{
		Command: &cli.Command{
			Name:      "compare",
			Usage:     "where the time to the first token and to the others goes: cold, warm, and on the CPU",
			ArgsUsage: "[FILE… | -- PROGRAM [ARGUMENTS]]",
			Description: "Makes runs in each state, interleaved, and shows every stage of them, what was compiled in it, the\n" +
				"ratio to the CPU within blocks, and the cause in a sentence. With FILEs it shows recordings instead:\n" +
				"one of a plan, or several of single runs; numbers are those of `introgen list`.\n\n" +
				"   cold          every source ends in a nonce, so that no cache can match\n" +
				"   cold-natural  no nonce; the cache of compiled code is empty, as the first time ever\n" +
				"   cold-half     the same with every second entry of a full cache, as after an update\n" +
				"   cold-file     on the CPU, the model dropped from the page cache\n" +
				"   warm-cache    a fresh process, everything in the cache of compiled code\n" +
				"   warm-process  the later rounds of those processes\n" +
				"   cpu           on the CPU\n\n" +
				"Behind -- stands any program that uses Metal, which `introgen record` runs and records: it can be\n" +
				"cold, cold-natural, cold-half and warm-cache, and warm-process where it marks more than one prefill.\n" +
				"Its output is dropped, and it is given no input.\n\n" +
				"--variant adds a kind of run beside the first of the states, or beside the state before a slash: the\n" +
				"same command line with more flags, to see what they change.\n\n" +
				"Examples:\n" +
				"   introgen compare\n" +
				"   introgen compare --states cold,cold-natural --runs 12 -o cold.introgen\n" +
				"   introgen compare --kernels own,candle\n" +
				"   introgen compare --states cpu --variant 'one: --threads 1'\n" +
				"   introgen compare 1 --style markdown\n" +
				"   introgen compare -- ./chat model.gguf",
			Flags: append(append(childFlags(planFlags()), programFlags()...),
				&cli.StringFlag{Name: "states", Usage: "`LIST` of " + strings.Join(knownStates, ", "), Value: "cold,warm-cache,warm-process,cpu"},
				&cli.StringSliceFlag{Name: "variant", Usage: "`[STATE/]NAME: FLAGS` of another kind of run; may be given several times"},
				&cli.StringFlag{Name: "kernels", Usage: "one or more `SETS` of Metal kernels to run with, such as own,candle"},
				mixedFlag(),
			),
		},
		programs:   true,
		plan:       planStates,
		recordings: anyNumber,
		answer:     always(withNotes(documentOf(compare.Of))),
	}
}

// planStates is the plan of the states that --states names.
func planStates(c *cli.Context) (planned, error) {
	program, given, err := programOf(c)
	if err != nil {
		return planned{}, err
	}
	if given {
		arms, err := programArms(c, program)
		return planned{arms: arms, factors: []string{"cache"}, metric: programMetric}, err
	}
	if err := programOnly(c, "mark"); err != nil {
		return planned{}, err
	}
	arms, factors, err := compareArms(c)
	return planned{arms: arms, factors: factors, metric: metrics.Token2.Alone}, err
}

// stateLine is the command line of a run in a state.
func stateLine(state string, rounds string) []string {
	switch state {
	case recording.StateCold:
		return []string{"metal", "1", "--nonce"}
	case recording.StateColdFile:
		return []string{"cpu", "1", "--evict"}
	case recording.StateCPU:
		return []string{"cpu", "1"}
	}
	return []string{"metal", rounds}
}

// variant is one of --variant.
type variant struct {
	state, name string
	args        []string
}

// compareArms makes the arms of the states, of each with every set of kernels,
// and of the variants.
func compareArms(c *cli.Context) ([]recording.Arm, []string, error) {
	states, err := readStates(c.String("states"))
	if err != nil {
		return nil, nil, err
	}
	sets := readList(c.String("kernels"))
	common, err := given(c)
	if err != nil {
		return nil, nil, err
	}
	variants, err := readVariants(c.StringSlice("variant"), states)
	if err != nil {
		return nil, nil, err
	}
	rounds := "1"
	if slices.Contains(states, recording.StateWarmProcess) {
		rounds = "2"
	}
	factors := []string{"cache"}
	if len(sets) > 1 {
		factors = append(factors, "kernels")
	}
	if len(variants) > 0 {
		factors = append(factors, "variant")
	}
	var arms []recording.Arm
	var alike error // of two arms that have one name and are not one
	add := func(state, set string, v variant) {
		a := recording.Arm{Name: state, State: state, Levels: map[string]string{"cache": state}}
		if state == coldHalf {
			a.State, a.Cache = recording.StateColdNatural, plan.CacheHalf
		}
		a.Args = append(stateLine(state, rounds), common...)
		if set != "" && a.Args[0] == "metal" {
			a.Args = append(a.Args, "--kernels", set)
		}
		if len(sets) > 1 {
			a.Levels["kernels"] = set
			if a.Args[0] == "metal" {
				a.Name += "/" + set
			}
		}
		if len(variants) > 0 {
			if a.Levels["variant"] = "base"; v.name != "" {
				a.Levels["variant"] = v.name
				a.Name += "/" + v.name
				a.Args = append(a.Args, v.args...)
			}
		}
		i := slices.IndexFunc(arms, func(x recording.Arm) bool { return x.Name == a.Name })
		switch {
		case i < 0:
			arms = append(arms, a)
		case !slices.Equal(arms[i].Args, a.Args):
			alike = usagef("two kinds of run would be called %q, %s and %s: call the variant, or the set of kernels, something else",
				a.Name, shellwords.Join(arms[i].Args), shellwords.Join(a.Args))
		}
	}
	if len(sets) == 0 {
		sets = []string{""}
	}
	for _, state := range states {
		if state == recording.StateWarmProcess { // they come out of the runs of warm-cache
			continue
		}
		for _, set := range sets {
			add(state, set, variant{})
			for _, v := range variants {
				if v.state == state {
					add(state, set, v)
				}
			}
		}
	}
	return arms, factors, alike
}

// readStates reads --states, each once, with warm-cache where warm-process is
// wanted, whose runs are the same.
func readStates(text string) ([]string, error) {
	states := readList(text)
	for _, s := range states {
		if !slices.Contains(knownStates, s) {
			return nil, usagef("--states %q: %q is not known: %s are allowed", text, s, strings.Join(knownStates, ", "))
		}
	}
	if len(states) == 0 {
		return nil, usagef("--states is empty: one or more of %s are wanted", strings.Join(knownStates, ", "))
	}
	if i := slices.Index(states, recording.StateWarmProcess); i >= 0 && !slices.Contains(states, recording.StateWarmCache) {
		states = slices.Insert(states, i, recording.StateWarmCache)
	}
	return states, nil
}

func readVariants(texts, states []string) ([]variant, error) {
	var out []variant
	for _, text := range texts {
		name, flags, ok := strings.Cut(text, ":")
		state, short, hasState := strings.Cut(name, "/")
		if hasState {
			name = short
		} else {
			state = states[0]
		}
		name = strings.TrimSpace(name)
		if !ok || name == "" || strings.ContainsAny(name, " \t/=") || name == "base" {
			return nil, usagef("--variant %q: NAME: FLAGS is wanted, such as 'slow: --fault lib=Reduce,delay=2s'; the name is one word", text)
		}
		if !slices.Contains(states, state) || state == recording.StateWarmProcess {
			return nil, usagef("--variant %q: the state %q is not among those of --states that have runs of their own", text, state)
		}
		args, err := moreFlags("--variant", strings.TrimSpace(flags))
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(v variant) bool { return v.state == state && v.name == name }) {
			return nil, usagef("--variant %q: %s has a variant %q already: give each a name of its own", text, state, name)
		}
		out = append(out, variant{state, name, args})
	}
	return out, nil
}
