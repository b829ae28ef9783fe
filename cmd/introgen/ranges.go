package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// mostValues is how many values a list may have: a slip of the finger must not make
// a sweep of a million.
const mostValues = 64

// parseRanges reads a list of whole numbers such as "1,10,50" or "1-1000*10":
// values, and ranges in the notation of llama-bench, first-last, first-last+step and
// first-last*factor. Values stay in the order given; one that stands there twice is
// taken once. Values lie between least and most.
func parseRanges(text string, least, most int) ([]int, error) {
	var out []int
	for _, part := range strings.Split(text, ",") {
		values, err := parseRange(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			if v < least || v > most {
				return nil, fmt.Errorf("%d is not from %d to %d", v, least, most)
			}
			if !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
		if len(out) > mostValues {
			return nil, fmt.Errorf("%q has more than %d values", text, mostValues)
		}
	}
	return out, nil
}

const notation = "a whole number, first-last, first-last+step or first-last*factor is wanted, such as 1,10,50 or 1-1000*10"

func parseRange(text string) ([]int, error) {
	wrong := fmt.Errorf("%q: %s", text, notation)
	from, rest, isRange := strings.Cut(text, "-")
	first, err := digits(from)
	if err != nil {
		return nil, wrong
	}
	if !isRange {
		return []int{first}, nil
	}
	step, factor := 1, 1
	to, by, _ := strings.Cut(rest, "+")
	if strings.Contains(rest, "*") {
		to, by, _ = strings.Cut(rest, "*")
	}
	last, err := digits(to)
	if err != nil {
		return nil, wrong
	}
	if to != rest {
		n, err := digits(by)
		switch {
		case err != nil:
			return nil, wrong
		case strings.Contains(rest, "*"):
			step, factor = 0, n
		default:
			step = n
		}
	}
	switch {
	case last < first:
		return nil, fmt.Errorf("%q ends below its begin", text)
	case factor < 2 && step < 1:
		return nil, fmt.Errorf("%q never ends: a step is 1 or more, a factor 2 or more", text)
	case factor > 1 && first < 1:
		return nil, fmt.Errorf("%q never ends: 0 times a factor is 0", text)
	}
	var out []int
	for v := first; v <= last; v = v*factor + step {
		if out = append(out, v); len(out) > mostValues {
			return nil, fmt.Errorf("%q has more than %d values", text, mostValues)
		}
		if v > math.MaxInt32 {
			break
		}
	}
	return out, nil
}

// digits reads digits alone: no sign, no spaces.
func digits(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err
}
