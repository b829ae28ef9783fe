package main

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/introgen/introgen/bench/plan"
	"github.com/introgen/introgen/cmd/introgen/commandline"
	"github.com/introgen/introgen/metalshim/recorder"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/shellwords"
	"github.com/urfave/cli/v2"
)

// Plans over any program: what stands behind "--" is run by `introgen record`, and
// its recordings are compared as those of the engine are.

// recordName is the command that runs a program and records it.
const recordName = "record"

// programOf is what stands behind "--": a program and its arguments. It is none
// where there is no "--".
func programOf(c *cli.Context) (args []string, given bool, err error) {
	raw, behind := sessionOf(c).args, c.Args().Slice()
	for i, a := range raw {
		if a != "--" || len(raw)-i-1 > len(behind) || !slices.Equal(raw[i+1:], behind[len(behind)-(len(raw)-i-1):]) {
			continue // the value of a flag
		}
		if n := len(behind) - (len(raw) - i - 1); n > 0 {
			return nil, true, usagef("%q stands before --: behind it stands a program to be run with its arguments, and nothing else is taken beside it", behind[0])
		}
		if args = raw[i+1:]; len(args) == 0 || args[0] == "" {
			return nil, true, usagef("a program is wanted behind --, such as `introgen %s -- ./chat model.gguf`", c.Command.Name)
		}
		return args, true, nil
	}
	return nil, false, nil
}

// programFlags are those that only a program has.
func programFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "mark", Usage: "of a program behind --: `REGEXP=PHASE`, as record takes it; may be given several times"},
	}
}

// engineOnly refuses flags that are introgen's own engine's beside a program.
func engineOnly(c *cli.Context, names ...string) error {
	for _, name := range names {
		if c.IsSet(name) {
			return usagef("--%s is a setting of introgen's own engine, and behind -- stands a program: its own arguments and variables say what it does", name)
		}
	}
	return nil
}

// programOnly refuses flags that mean nothing without a program.
func programOnly(c *cli.Context, names ...string) error {
	for _, name := range names {
		if c.IsSet(name) {
			return usagef("--%s is for a program: `introgen %s --%s … -- PROGRAM ARGUMENTS`", name, c.Command.Name, name)
		}
	}
	return nil
}

// recordLine is the command line that records a program, and says nothing of its
// own but what went wrong: what the program says last is why it failed. Whether its marks can be
// read says the first run.
func recordLine(c *cli.Context, flags, program []string) []string {
	line := append([]string{recordName, "--quiet"}, flags...)
	for _, m := range c.StringSlice("mark") {
		line = append(line, "--mark", m)
	}
	return append(append(line, "--"), program...)
}

// programStates are the states that a program can be put in, the first three by
// default.
var programStates = []string{recording.StateCold, recording.StateWarmCache, recording.StateWarmProcess, recording.StateColdNatural, coldHalf}

const defaultProgramStates = 3

// programArms are the arms of the states of a program, which --states names or are
// those that every system has.
func programArms(c *cli.Context, program []string) ([]recording.Arm, error) {
	if err := engineOnly(c, "model", "tokens", "with", "kernels", "variant"); err != nil {
		return nil, err
	}
	states := programStates[:defaultProgramStates]
	if c.IsSet("states") || c.Command.Name == "bill" {
		var err error
		if states, err = readStates(c.String("states")); err != nil {
			return nil, err
		}
	}
	var arms []recording.Arm
	for _, state := range states {
		a := recording.Arm{Name: state, State: state, Levels: map[string]string{"cache": state}}
		var flags []string
		switch state {
		case recording.StateWarmProcess: // it comes out of the runs of warm-cache
			continue
		case recording.StateCold:
			flags = []string{"--nonce"}
		case recording.StateColdNatural, coldHalf:
			if runtime.GOOS == "darwin" {
				return nil, usagef("--states: %s of a program needs a cache folder that can be told, which Metal on macOS has not: take cold, where every source ends in a nonce", state)
			}
			if state == coldHalf {
				a.State, a.Cache = recording.StateColdNatural, plan.CacheHalf
			}
		case recording.StateWarmCache:
		default:
			return nil, usagef("--states: a program has no state %q: %s are allowed", state, strings.Join(programStates, ", "))
		}
		a.Args = recordLine(c, flags, program)
		arms = append(arms, a)
	}
	return arms, nil
}

// programMetric is what --until watches of programs: until the second token, or
// what else is waited for.
func programMetric(r *recording.Run) (float64, bool) {
	for _, m := range []metrics.Metric{metrics.Token2, metrics.FirstOutput, metrics.Lives} {
		if v, ok := m.Alone(r); ok {
			return v, true
		}
	}
	return 0, false
}

// programCommand reads a command line that records a program, to be run many times.
func programCommand(line string, args []string) ([]string, error) {
	dashes := slices.Index(args, "--")
	if dashes < 0 || dashes+1 == len(args) {
		return nil, usagef("%q: a program is wanted behind --, such as 'record -- ./chat model.gguf'", line)
	}
	for _, a := range args[1:dashes] {
		if f := commandline.Lookup(a, outputFlags()); strings.HasPrefix(a, "-") && f != nil {
			return nil, usagef("%q: %s belongs to the command that makes the runs, whose recording holds all of them", line, a)
		}
	}
	return args, nil
}

// benchCommand reads a command line of bench: one of the engine, or one that
// records a program.
func benchCommand(line string) ([]string, error) {
	args, err := shellwords.Split(line)
	if err == nil && len(args) > 0 && args[0] == "introgen" {
		args = args[1:]
	}
	if err == nil && len(args) > 0 && args[0] == recordName {
		return programCommand(line, args)
	}
	if err == nil && (len(args) == 0 || args[0] != "cpu" && args[0] != "metal") {
		return nil, usagef("%q is no command that generates: cpu or metal with its flags is wanted, such as 'cpu --threads 1', or a program, such as 'record -- ./chat model.gguf'", line)
	}
	return childCommand(line)
}

// A variable or an argument of a program that is swept.
type swept struct {
	factor string
	levels []string
	env    string   // the variable; "" of an argument
	args   []string // with level instead of the braces, of which the last that has some counts
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// readEnv reads NAME=1,10,50.
func readEnv(text string) (swept, error) {
	name, values, ok := strings.Cut(text, "=")
	if !ok || !variable.MatchString(name) {
		return swept{}, usagef("--env %q: NAME=VALUE,VALUE… is wanted, such as CANDLE_METAL_COMPUTE_PER_BUFFER=1,10,50,200", text)
	}
	if name == recorder.Environment || name == recorder.NonceEnvironment {
		return swept{}, usagef("--env %q: introgen sets %s itself for every program that it records, so that it cannot be swept", text, name)
	}
	levels, err := readLevels(values)
	if err != nil {
		return swept{}, usagef("--env %q: %w", text, err)
	}
	return swept{factor: name, env: name, levels: levels}, nil
}

// braces are the values of an argument.
var braces = regexp.MustCompile(`\{([^{}]*)\}`)

// readArg reads '--flag={0,99}', of which the braces hold the values.
func readArg(text string) (swept, error) {
	args, err := shellwords.Split(text)
	if err != nil {
		return swept{}, usagef("--arg %q: %w", text, err)
	}
	s := swept{args: args}
	for i, a := range args {
		at := braces.FindStringSubmatchIndex(a)
		if at == nil {
			continue
		}
		if s.levels != nil || len(braces.FindAllString(a, -1)) > 1 {
			return swept{}, usagef("--arg %q: one pair of braces is wanted, with the values between commas: give --arg once for each argument", text)
		}
		if s.levels, err = readLevels(a[at[2]:at[3]]); err != nil {
			return swept{}, usagef("--arg %q: %w", text, err)
		}
		s.factor = strings.Trim(a[:at[0]], "-=")
		if s.factor == "" && i > 0 {
			s.factor = strings.Trim(args[i-1], "-=")
		}
		if s.factor == "" {
			s.factor = "argument"
		}
	}
	if s.levels == nil {
		return swept{}, usagef("--arg %q: its values are wanted in braces, such as '--gpu-layers={0,99}' or '-ngl {0,99}'", text)
	}
	return s, nil
}

// readLevels reads values between commas.
func readLevels(text string) ([]string, error) {
	var out []string
	for v := range strings.SplitSeq(text, ",") {
		if v = strings.TrimSpace(v); v == "" {
			return nil, fmt.Errorf("one of its values is empty: values between commas are wanted")
		}
		if slices.Contains(out, v) {
			return nil, fmt.Errorf("the value %q stands there twice", v)
		}
		out = append(out, v)
	}
	return out, nil
}

// sweptOf reads what is swept of a program.
func sweptOf(c *cli.Context) ([]swept, error) {
	var out []swept
	add := func(s swept, err error) error {
		if err == nil && slices.ContainsFunc(out, func(o swept) bool { return o.factor == s.factor }) {
			err = usagef("%s is swept twice: give its values once", s.factor)
		}
		out = append(out, s)
		return err
	}
	for _, text := range c.StringSlice("env") {
		if err := add(readEnv(text)); err != nil {
			return nil, err
		}
	}
	for _, text := range c.StringSlice("arg") {
		if err := add(readArg(text)); err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, usagef("there is nothing to sweep: --env NAME=1,10,50 is a variable of the program, --arg '--flag={0,99}' an argument that is added to its own")
	}
	return out, nil
}

// sweepProgram is the plan of a sweep over a program.
func sweepProgram(c *cli.Context, program []string) (planned, error) {
	p := planned{metric: programMetric}
	if err := engineOnly(c, "commands-per-buffer", "threads", "io", "tokens", "on", "model", "with"); err != nil {
		return p, err
	}
	all, err := sweptOf(c)
	if err != nil {
		return p, err
	}
	if c.IsSet("metric") {
		m, err := sweepMetric(c.String("metric"), nil)
		if err != nil {
			return p, err
		}
		p.metric = m.Alone
	}
	arms := []recording.Arm{{State: recording.StateWarmCache, Args: program, Levels: map[string]string{}, Env: map[string]string{}}}
	for _, s := range all {
		p.factors = append(p.factors, s.factor)
		var crossed []recording.Arm
		for _, a := range arms {
			for _, level := range s.levels {
				crossed = append(crossed, s.at(a, level))
			}
		}
		if arms = crossed; len(arms) > mostArmsSwept {
			return p, usagef("the settings cross to %d kinds of runs; at most %d are allowed", len(arms), mostArmsSwept)
		}
	}
	for i := range arms {
		arms[i].Args = recordLine(c, nil, arms[i].Args)
	}
	p.arms = arms
	return p, nil
}

// at is the arm with a level of the setting.
func (s swept) at(a recording.Arm, level string) recording.Arm {
	x := a
	x.Name = strings.TrimSpace(a.Name + " " + s.factor + "=" + level)
	x.Levels, x.Env = map[string]string{s.factor: level}, map[string]string{}
	for k, v := range a.Levels {
		x.Levels[k] = v
	}
	for k, v := range a.Env {
		x.Env[k] = v
	}
	if s.env != "" {
		x.Env[s.env] = level
	}
	x.Args = slices.Clone(a.Args)
	for _, arg := range s.args {
		x.Args = append(x.Args, braces.ReplaceAllLiteralString(arg, level))
	}
	return x
}
