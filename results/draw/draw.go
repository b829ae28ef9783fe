// Package draw draws figures in text, for a terminal: with the block elements of
// Unicode, or in ASCII where the terminal has no others. A drawing has no colour
// and is as wide as it is told to be.
package draw

import (
	"math"
	"strings"
)

// The signs of heights and of lengths, from the least to the most.
var (
	heights      = []rune("▁▂▃▄▅▆▇█")
	heightsASCII = []rune(`_.-~=+*#`)
	lengths      = []rune("▏▎▍▌▋▊▉█")
)

// Sparkline draws each value as a sign whose height is the value, from nothing on:
// what is twice as high is twice as much. More values than columns share one, which
// has the largest of them, so that a stall is not lost. A NaN is a value that is
// missing, and a blank.
func Sparkline(values []float64, width int, unicode bool) string {
	if len(values) == 0 || width < 1 {
		return ""
	}
	signs := heightsASCII
	if unicode {
		signs = heights
	}
	columns := squeeze(values, width)
	most := 0.0
	for _, v := range columns {
		if !math.IsNaN(v) {
			most = max(most, v)
		}
	}
	var b strings.Builder
	for _, v := range columns {
		switch {
		case math.IsNaN(v):
			b.WriteByte(' ')
		case !(v > 0) || most == 0:
			b.WriteRune(signs[0])
		case math.IsInf(most, 1):
			b.WriteRune(signs[pick(v == most, len(signs)-1, 0)])
		default:
			b.WriteRune(signs[min(max(int(math.Ceil(v/most*float64(len(signs))))-1, 0), len(signs)-1)])
		}
	}
	return strings.TrimRight(b.String(), " ")
}

func pick(is bool, a, b int) int {
	if is {
		return a
	}
	return b
}

// squeeze makes at most width values of all, each the largest of those that it
// stands for.
func squeeze(values []float64, width int) []float64 {
	if len(values) <= width {
		return values
	}
	out := make([]float64, width)
	for i := range out {
		out[i] = math.NaN()
		for _, v := range values[i*len(values)/width : (i+1)*len(values)/width] {
			if !math.IsNaN(v) && !(out[i] >= v) {
				out[i] = v
			}
		}
	}
	return out
}

// bar is a bar of v as a part of most, in at most width columns; what is more than
// nothing is seen.
func bar(v, most float64, width int, unicode bool) string {
	if !(v > 0) || !(most > 0) || width < 1 {
		return ""
	}
	part := 1.0
	if v < most {
		part = v / most
	}
	if !unicode {
		return strings.Repeat("#", max(1, int(math.Round(part*float64(width)))))
	}
	n := max(1, int(math.Round(part*float64(width*8))))
	text := strings.Repeat("█", n/8)
	if n%8 > 0 {
		text += string(lengths[n%8-1])
	}
	return text
}
