package main

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/results/answers/sweep"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/urfave/cli/v2"
)

// sweepMetrics are what a sweep can be about.
var sweepMetrics = []metrics.Metric{metrics.Decode, metrics.P90, metrics.P99, metrics.Max, metrics.Read, metrics.Build, metrics.Prefill, metrics.Token1, metrics.Token2, metrics.Rate,
	metrics.FirstMetal, metrics.FirstOutput, metrics.Repeats, metrics.Lives, metrics.LibraryTime, metrics.PipelineTime, metrics.GPUTime}

func sweepPlan() planCommand {
	keys := make([]string, len(sweepMetrics))
	for i, m := range sweepMetrics {
		keys[i] = cmp.Or(m.Also, m.Key)
	}
	return planCommand{
		Command: &cli.Command{
			Name:      "sweep",
			Usage:     "what a setting does: decode steps of the second round at each of its values",
			ArgsUsage: "[FILE | -- PROGRAM [ARGUMENTS]]",
			Description: "Makes runs at each value, interleaved, and shows beside the time what the device and the CPU did, what\n" +
				"a command buffer costs, and which value to take. Values are numbers and ranges between commas:\n" +
				"first-last, first-last+step, first-last*factor. Several settings are crossed. --commands-per-buffer\n" +
				"runs on Metal, --threads on the CPU. With a FILE it shows the recording of a sweep instead.\n\n" +
				"Behind -- stands any program that uses Metal: --env sweeps a variable, --arg an argument that is\n" +
				"added to its own, with the values in braces. It is shown by what it repeats, or its first output.\n\n" +
				"Examples:\n" +
				"   introgen sweep --env CANDLE_METAL_COMPUTE_PER_BUFFER=1,10,50,200 -- ./chat model.gguf\n" +
				"   introgen sweep --arg '-ngl {0,99}' --metric first-output -- ./chat model.gguf\n" +
				"   introgen sweep                                     as in the experiment: 1,10,50,200,100000\n" +
				"   introgen sweep --commands-per-buffer '1-1000*10'\n" +
				"   introgen sweep --threads 1,2 --tokens 20,200\n" +
				"   introgen sweep --context 128,512,1024,4096         how a step grows with the text before it\n" +
				"   introgen sweep --io mmap,buffered,file --metric read",
			Flags: append(append(planFlags(), programFlags()...),
				&cli.StringSliceFlag{Name: "env", Usage: "a variable of the program behind -- and its values, `NAME=VALUE,VALUE…`; several are crossed"},
				&cli.StringSliceFlag{Name: "arg", Usage: "an argument of the program with its values, `'--flag={0,99}'`; several are crossed"},
				&cli.StringFlag{Name: "commands-per-buffer", Usage: "`VALUES` of metal's flag", DefaultText: experimentValues + ", where nothing else is swept"},
				&cli.StringFlag{Name: "threads", Usage: "`VALUES` of cpu's flag"},
				&cli.StringFlag{Name: "io", Usage: "`LIST` of mmap, buffered, file"},
				&cli.StringFlag{Name: "tokens", Usage: "`VALUES` of decode steps a round"},
				&cli.StringFlag{Name: "context", Usage: "`VALUES` of positions that decode steps find in the cache: a prompt of so many tokens"},
				&cli.StringFlag{Name: "on", Usage: "cpu or metal, where neither --threads nor --commands-per-buffer says so", DefaultText: "cpu"},
				&cli.StringFlag{Name: "metric", Usage: "what to show: " + strings.Join(keys, ", "), DefaultText: "decode; read where only --io is swept; of a program what it repeats"},
				modelFlag(modelOfAll),
				&cli.StringFlag{Name: "with", Usage: "more `FLAGS` for every run: --with '--prompt Hello'"},
				mixedFlag(),
			),
		},
		programs:   true,
		plan:       planSweep,
		recordings: 1,
		check: func(c *cli.Context) error {
			_, _, err := readSettings(c)
			return err
		},
		answer: func(flag func(string) string, factors []string) (answering, error) {
			metric, err := sweepMetric(flag("metric"), factors)
			return withNotes(documentOf(func(f *breakdown.File) (*sweep.Answer, error) { return sweep.Of(f, metric) })), err
		},
	}
}

// experimentValues are those of the experiment.
const experimentValues = "1,10,50,200,100000"

// setting is a flag that is swept.
type setting struct {
	factor, flag string
	levels       []string
}

func planSweep(c *cli.Context) (p planned, err error) {
	program, given, err := programOf(c)
	switch {
	case err != nil:
		return p, err
	case given:
		return sweepProgram(c, program)
	}
	if err := programOnly(c, "env", "arg", "mark"); err != nil {
		return p, err
	}
	settings, engine, err := readSettings(c)
	if err != nil {
		return p, err
	}
	settings, alone := varied(settings)
	for _, s := range settings {
		p.factors = append(p.factors, s.factor)
	}
	metric, err := sweepMetric(c.String("metric"), p.factors)
	if err != nil {
		return p, err
	}
	p.metric = func(r *recording.Run) (float64, bool) {
		rounds := breakdown.Rounds(r)
		switch {
		case metric.Of == nil: // a figure of the whole run
			return metric.Alone(r)
		case len(rounds) == 0:
			return 0, false
		}
		return metric.Of(rounds[len(rounds)-1])
	}
	p.arms, err = sweepArms(c, settings, alone, engine)
	return p, err
}

// varied are the settings with several values, which are swept, and the flags of those
// with one, which all runs have. Where none has several they are all swept.
func varied(settings []setting) (swept []setting, alone []string) {
	for _, s := range settings {
		if len(s.levels) == 1 {
			alone = append(alone, "--"+s.flag, s.levels[0])
			continue
		}
		swept = append(swept, s)
	}
	if len(swept) == 0 {
		return settings, nil
	}
	return swept, alone
}

// readSettings reads what is to be swept, and on which engine.
func readSettings(c *cli.Context) (settings []setting, engine string, err error) {
	perBuffer := c.String("commands-per-buffer")
	if perBuffer == "" && !c.IsSet("commands-per-buffer") && !c.IsSet("threads") && !c.IsSet("io") && !c.IsSet("tokens") && !c.IsSet("context") {
		perBuffer = experimentValues
	}
	if perBuffer != "" && c.IsSet("threads") {
		return nil, "", usagef("--commands-per-buffer is a setting of metal and --threads one of cpu: sweep one of them")
	}
	engine = c.String("on")
	switch {
	case engine != "" && engine != "cpu" && engine != "metal":
		return nil, "", usagef("--on %q: cpu or metal is wanted", engine)
	case perBuffer != "" && engine == "cpu", c.IsSet("threads") && engine == "metal":
		return nil, "", usagef("--on %s: the setting that is swept is the other engine's", engine)
	case perBuffer != "":
		engine = "metal"
	case engine == "":
		engine = "cpu"
	}
	for _, s := range []struct {
		flag, factor, text string
		least, most        int
	}{
		{"commands-per-buffer", sweep.PerBuffer, perBuffer, 0, 1<<31 - 1},
		{"threads", "threads", c.String("threads"), 1, cpu.MaxThreads},
		{"tokens", "tokens", c.String("tokens"), 1, 1 << 20},
		{"context", sweep.Context, c.String("context"), 1, mostPromptTokens},
	} {
		if s.text == "" && !c.IsSet(s.flag) {
			continue
		}
		v, err := parseRanges(s.text, s.least, s.most)
		if err != nil {
			return nil, "", usagef("--%s: %w", s.flag, err)
		}
		levels := make([]string, len(v))
		for i := range v {
			levels[i] = strconv.Itoa(v[i])
		}
		flag := s.flag
		if flag == "context" {
			flag = promptTokens // a prompt of so many tokens brings them into the cache
		}
		settings = append(settings, setting{s.factor, flag, levels})
	}
	if c.IsSet("io") {
		levels := readList(c.String("io"))
		for _, l := range levels {
			if _, err := readIO(l); err != nil {
				return nil, "", err
			}
		}
		if len(levels) == 0 {
			return nil, "", usagef("--io is empty: one or more of mmap, buffered, file are wanted")
		}
		settings = append(settings, setting{"io", "io", levels})
	}
	return settings, engine, nil
}

// sweepMetric is the metric of that name; "" is the one that fits what is swept.
func sweepMetric(name string, factors []string) (metrics.Metric, error) {
	if name == "" {
		if name = "decode"; len(factors) == 1 && factors[0] == "io" {
			name = "read"
		}
	}
	for _, m := range sweepMetrics {
		if m.Called(name) {
			return m, nil
		}
	}
	return metrics.Metric{}, usagef("--metric %q is not known; `introgen sweep --help` lists them", name)
}

// mostArmsSwept bounds crossed settings.
const mostArmsSwept = 64

// sweepArms crosses the settings; alone are further flags of all runs.
func sweepArms(c *cli.Context, settings []setting, alone []string, engine string) ([]recording.Arm, error) {
	base := []string{engine, "2"}
	state := recording.StateCPU
	if engine == "metal" {
		state = recording.StateWarmCache
	}
	if c.IsSet("model") {
		base = append(base, "--model", c.String("model"))
	}
	more, err := moreFlags("--with", c.String("with"))
	if err != nil {
		return nil, err
	}
	arms := []recording.Arm{{State: state, Args: slices.Concat(base, more, alone), Levels: map[string]string{}}}
	for _, s := range settings {
		var crossed []recording.Arm
		for _, a := range arms {
			for _, l := range s.levels {
				x := a
				x.Name = strings.TrimSpace(a.Name + " " + s.factor + "=" + l)
				x.Args = append(slices.Clone(a.Args), "--"+s.flag, l)
				x.Levels = map[string]string{s.factor: l}
				for k, v := range a.Levels {
					x.Levels[k] = v
				}
				crossed = append(crossed, x)
			}
		}
		if arms = crossed; len(arms) > mostArmsSwept {
			return nil, usagef("the settings cross to %d kinds of runs; at most %d are allowed", len(arms), mostArmsSwept)
		}
	}
	return arms, nil
}
