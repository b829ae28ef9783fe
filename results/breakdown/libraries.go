package breakdown

import (
	"cmp"
	"slices"
	"time"
)

// Library is a library by its name, with the pipelines that were made of it.
type Library struct {
	Name string
	// Made is each time that it was made: usually one, and none where only
	// pipelines of it were.
	Made      []Compile
	Pipelines []Compile
}

// Libraries are those that something was compiled of, in the order in which they
// were first needed.
func Libraries(compiles []Compile) []Library {
	var out []Library
	at := map[string]int{}
	for _, c := range compiles {
		i, ok := at[c.Library]
		if !ok {
			i, at[c.Library] = len(out), len(out)
			out = append(out, Library{Name: c.Library})
		}
		if c.IsLibrary() {
			out[i].Made = append(out[i].Made, c)
		} else {
			out[i].Pipelines = append(out[i].Pipelines, c)
		}
	}
	return out
}

// Compiling is the time of all that was compiled.
func Compiling(compiles []Compile) time.Duration {
	var sum time.Duration
	for _, c := range compiles {
		sum += c.Time
	}
	return sum
}

// Lost is what of the wall clock all that was compiled took.
func Lost(compiles []Compile) time.Duration {
	var sum time.Duration
	for _, c := range compiles {
		sum += c.Wall()
	}
	return sum
}

// Chain is a library and the slowest of its pipelines, which waits for it.
type Chain struct {
	Library, Function string // Function is "" where no pipeline was made of it
	Time              time.Duration
}

// LongestChain is the library that takes the longest with its slowest pipeline:
// what would be left of compiling if every library had a core of its own, and then
// every pipeline. It is empty where no library was made.
func LongestChain(libraries []Library) Chain {
	var longest Chain
	for _, l := range libraries {
		for _, m := range l.Made {
			c := Chain{Library: l.Name, Time: m.Time}
			if len(l.Pipelines) > 0 {
				slowest := slices.MaxFunc(l.Pipelines, func(x, y Compile) int { return cmp.Compare(x.Time, y.Time) })
				c.Function, c.Time = slowest.Function, m.Time+slowest.Time
			}
			if c.Time > longest.Time {
				longest = c
			}
		}
	}
	return longest
}
