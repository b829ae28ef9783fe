package main

import (
	"slices"
	"testing"

	"github.com/introgen/introgen/bench/plan"
	"github.com/introgen/introgen/engine/metal"
	"github.com/introgen/introgen/results/answers/remedy"
	"github.com/introgen/introgen/results/compileplan"
	"github.com/introgen/introgen/results/recording"
)

// TestWarmUpPredicted: one after the other takes the sum of what the plan says, 7 + 2 + 4
// ns; nothing is predicted of compiles beside each other, nor where a time is missing or a
// library has no pipeline, which the warm-up does not make.
func TestWarmUpPredicted(t *testing.T) {
	library := func(own int64, pipelines ...int64) compileplan.Library {
		l := compileplan.Library{Name: "Cast", Nanoseconds: own}
		for _, ns := range pipelines {
			l.Pipelines = append(l.Pipelines, compileplan.Pipeline{Function: "f", Nanoseconds: ns})
		}
		return l
	}
	for _, c := range []struct {
		of   compileplan.Library
		when metal.When
		want int64
	}{
		{library(7, 2, 4), metal.Serial, 13},
		{library(7, 2, 4), metal.Concurrent, 0},
		{library(7, 2, 4), metal.Early, 0},
		{library(7, 2, 0), metal.Serial, 0},
		{library(0, 2, 4), metal.Serial, 0},
		{library(7), metal.Serial, 0},
	} {
		w := &warmUp{plan: &compileplan.Plan{Libraries: []compileplan.Library{c.of}}}
		if got := w.predicted(metal.Compile{When: c.when}); got != c.want {
			t.Errorf("%+v, %v: %d ns, want %d", c.of, c.when, got, c.want)
		}
	}
}

// TestMeasuredArms: each start has no compiled code but what was made before it, in a way
// that its state can be held to.
func TestMeasuredArms(t *testing.T) {
	for _, c := range []struct {
		keys         []string
		name, state  string
		cache        string
		args         []string
		preparations int
	}{
		{nil, "serial", recording.StateColdNatural, plan.CacheEmpty, []string{"metal", "1", "--tokens", "2"}, 0},
		{[]string{remedy.Early, remedy.Trim}, "early+trim", recording.StateColdNatural, plan.CacheEmpty, []string{"metal", "1", "--tokens", "2", "--compile", "early,trim"}, 0},
		{[]string{remedy.Archive}, "archive", recording.StateArchive, plan.CacheEmpty, []string{"metal", "1", "--tokens", "2", "--archive", "{scratch}/archive"}, 1},
		{[]string{remedy.WarmUp}, "warmup", recording.StateWarmCache, plan.CachePrepared, []string{"metal", "1", "--tokens", "2"}, 3},
	} {
		a := measuredArm([]string{"--tokens", "2"}, c.keys...)
		if a.Name != c.name || a.State != c.state || a.Cache != c.cache || !slices.Equal(a.Args, c.args) || len(a.Prepare) != c.preparations {
			t.Errorf("%v: %+v", c.keys, a)
		}
	}
}
