// Package compileplan is a plan of what a program has to compile: its libraries
// and their pipelines with their constants, exactly, in the order in which a
// recorded run first needed them. A program's author takes it home as JSON, or as a
// page of code (package compileplan/code); `introgen metal --warmup` makes what is in
// it. docs/remedies.md describes the file.
package compileplan

import (
	"fmt"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/trace/names"
)

// Format and Version stand at the beginning of every plan. A reader refuses a newer
// version.
const (
	Format  = "introgen compile plan"
	Version = 1
)

// Ending is what the name of a plan ends in.
const Ending = ".json"

// Plan is what a run compiled.
type Plan struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	From    string `json:"from"` // the run that it was made from, in words
	// Driver and Device are where that ran: "soft", "Apple M2".
	Driver string `json:"driver,omitempty"`
	Device string `json:"device,omitempty"`
	// Kernels is the set of introgen's own engine, and Digest the SHA-256 of its
	// sources; both are "" of a program.
	Kernels   string    `json:"kernels,omitempty"`
	Digest    string    `json:"kernels_sha256,omitempty"`
	Libraries []Library `json:"libraries"` // in the order of first need
	// Left is what the run compiled and the plan cannot say exactly.
	Left []Left `json:"left_out,omitempty"`
}

// Library is a library with the pipelines that are made of it.
type Library struct {
	Name        string `json:"name"`           // its label
	File        string `json:"file,omitempty"` // of its source, where that is known
	SourceBytes int    `json:"source_bytes"`
	Digest      string `json:"sha256,omitempty"` // of its source, where that is known
	Phase       string `json:"phase"`            // of first need
	// Nanoseconds is how long it was compiled; 0 where that was not measured, as of
	// one that came from a cache.
	Nanoseconds int64      `json:"compile_ns,omitempty"`
	Pipelines   []Pipeline `json:"pipelines"` // in the order of first need
}

// Pipeline is a function with the values of its constants.
type Pipeline struct {
	Function    string     `json:"function"`
	Constants   []Constant `json:"constants,omitempty"`
	Phase       string     `json:"phase"`
	Nanoseconds int64      `json:"compile_ns,omitempty"` // as a library's
	// Need is the place of the pipeline among all of the plan, from 1, in the order of
	// first need: that of the libraries one after another need not be.
	Need int `json:"need"`
}

// Constant is the value of a function constant.
type Constant struct {
	Index int    `json:"index"`
	Name  string `json:"name,omitempty"` // of one that the program sets by its name; Index is then 0
	Type  string `json:"type"`           // MSL's name: "bool", "float" …
	// Value is exact: a decimal number; of bool 0 or 1, of float the shortest one
	// that is this one and no other; of half, and of a float that is no number, the
	// bits as 0x3c00.
	Value string `json:"value"`
}

// Left is a library, or with a function a pipeline, that is not in the plan.
type Left struct {
	Library   string `json:"library"`
	Function  string `json:"function,omitempty"`
	Constants string `json:"constants,omitempty"` // as the recording has them
	Why       string `json:"why"`
}

// Ref is where a pipeline stands in a plan.
type Ref struct{ Library, Pipeline int }

// Order are the pipelines in the order of first need.
func (p *Plan) Order() []Ref {
	out := make([]Ref, p.Pipelines())
	for i, l := range p.Libraries {
		for k, x := range l.Pipelines {
			out[x.Need-1] = Ref{i, k}
		}
	}
	return out
}

// Size says how much is in it: "10 libraries, 21 pipelines".
func (p *Plan) Size() string {
	libraries := "1 library"
	if n := len(p.Libraries); n != 1 {
		libraries = fmt.Sprintf("%d libraries", n)
	}
	return libraries + ", " + figures.Number(p.Pipelines(), "pipeline")
}

// Pipelines is how many pipelines are in the plan.
func (p *Plan) Pipelines() int {
	n := 0
	for _, l := range p.Libraries {
		n += len(l.Pipelines)
	}
	return n
}

// Compiling is how long all of it was compiled one after another, and whether that
// was measured of all.
func (p *Plan) Compiling() (sum time.Duration, whole bool) {
	whole = true
	add := func(ns int64) {
		sum += time.Duration(ns)
		whole = whole && ns > 0
	}
	for _, l := range p.Libraries {
		add(l.Nanoseconds)
		for _, x := range l.Pipelines {
			add(x.Nanoseconds)
		}
	}
	return sum, whole
}

// measured says whether what was compiled was, rather than taken from a cache.
func measured(cache string) bool { return cache == names.CacheMiss || cache == names.CacheOff }
