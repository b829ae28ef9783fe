package metal

import (
	"fmt"
	"strings"
)

// When says when libraries and pipelines are compiled.
type When int

// Serial is candle's way: each where it is needed for the first time, one after
// another. Concurrent begins side by side what a phase needs when that begins. Early
// begins what the whole run needs as soon as Device.Expect says what that is.
const (
	Serial When = iota
	Concurrent
	Early
)

// whens are the names, by their value.
var whens = []string{"serial", "concurrent", "early"}

func (w When) String() string { return whens[w] }

// trimmed is how a Compile's Trim is written.
const trimmed = "trim"

// Compile is how libraries and pipelines are compiled. The zero Compile is candle's
// way.
type Compile struct {
	When When
	// Trim leaves those kernels out of the sources of which Device.Expect was not
	// told.
	Trim bool
}

// String is the mode as ParseCompile reads it.
func (c Compile) String() string {
	switch {
	case !c.Trim:
		return c.When.String()
	case c.When == Serial:
		return trimmed
	}
	return c.When.String() + "," + trimmed
}

// CompileModes are all that there are.
func CompileModes() []string {
	var out []string
	for _, trim := range []bool{false, true} {
		for when := range whens {
			out = append(out, Compile{When(when), trim}.String())
		}
	}
	return out
}

// ParseCompile reads a mode such as "serial", "trim" or "early,trim". knob is named
// in the error.
func ParseCompile(knob, text string) (Compile, error) {
	var c Compile
	seen := map[string]bool{}
	timed := false
	for word := range strings.SplitSeq(text, ",") {
		when := -1
		for i, name := range whens {
			if name == word {
				when = i
			}
		}
		switch {
		case seen[word], when < 0 && word != trimmed, when >= 0 && timed:
			return Compile{}, fmt.Errorf("%s %q: one of %s is wanted", knob, text, strings.Join(CompileModes(), " "))
		case when >= 0:
			c.When, timed = When(when), true
		default:
			c.Trim = true
		}
		seen[word] = true
	}
	return c, nil
}
