package main

import (
	"slices"

	"github.com/introgen/introgen/bench/plan"
	"github.com/introgen/introgen/results/answers/remedy"
	"github.com/introgen/introgen/results/compileplan"
	"github.com/introgen/introgen/results/recording"
	"github.com/urfave/cli/v2"
)

// measureFlags are those of `introgen remedy --measure`.
func measureFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "measure", Usage: "make runs with each remedy and with the best of them together, interleaved with plain ones, and show what was predicted beside what they took"},
		&cli.StringFlag{Name: "kernels", Usage: "the `SET` of Metal kernels of the runs, as of metal"},
	}
}

// measured are the remedies of --measure, alone and together. Work at install time is
// combined with what else saves something then.
var measured = [][]string{
	{remedy.Concurrent}, {remedy.Early}, {remedy.Trim}, {remedy.Archive}, {remedy.WarmUp}, {remedy.Map},
	{remedy.Early, remedy.Trim}, {remedy.Early, remedy.Trim, remedy.Map}, {remedy.Archive, remedy.Map}, {remedy.WarmUp, remedy.Map},
}

// planMeasure is the plan that measures them.
func planMeasure(c *cli.Context) (planned, error) {
	common, err := startArguments(c)
	if err != nil {
		return planned{}, err
	}
	p := planned{factors: []string{remedy.Factor}, arms: []recording.Arm{measuredArm(common)}}
	for _, keys := range measured {
		p.arms = append(p.arms, measuredArm(common, keys...))
	}
	return p, nil
}

// measuredArm is a cold start with remedies. Each begins with no compiled code but what
// was made at install time.
func measuredArm(common []string, keys ...string) recording.Arm {
	const archive, serial, warmUp = plan.Scratch + "/archive", plan.Scratch + "/serial" + recording.Ending, plan.Scratch + "/plan" + compileplan.Ending
	a := recording.Arm{Name: remedy.Plain, State: recording.StateColdNatural, Cache: plan.CacheEmpty}
	if len(keys) > 0 {
		a.Name = remedy.Name(keys...)
	}
	a.Levels = map[string]string{remedy.Factor: a.Name}
	metal := func(rounds string, more ...string) []string {
		return slices.Concat([]string{"metal", rounds}, common, more)
	}
	args := remedy.Arguments(keys...)
	if i := slices.Index(args, remedy.File); i >= 0 {
		args[i] = archive
		a.State = recording.StateArchive
		a.Prepare = append(a.Prepare, metal("1", "--archive", archive))
	}
	if i := slices.Index(args, remedy.Plan); i >= 0 { // the start after it has nothing left to do
		args = slices.Delete(args, i-1, i+1)
		a.State, a.Cache = recording.StateWarmCache, plan.CachePrepared
		// What the run with the nonce compiles serves no other.
		a.Prepare = append(a.Prepare, metal("1", "--nonce", "-o", serial), []string{"remedy", "--plan", warmUp, serial}, metal("0", "--warmup", warmUp))
	}
	a.Args = metal("1", args...)
	return a
}
