package main

import (
	"slices"
	"strings"
	"testing"
)

func TestRanges(t *testing.T) {
	for text, want := range map[string][]int{
		"1,10,50,200,100000":      {1, 10, 50, 200, 100000},
		"1-1000*10":               {1, 10, 100, 1000},
		"1-999*10":                {1, 10, 100},
		"2-8+3":                   {2, 5, 8},
		"1-4":                     {1, 2, 3, 4},
		" 50 , 10-30+10,50":       {50, 10, 20, 30},
		"0":                       {0},
		"7-7*2":                   {7},
		"2147483647":              {2147483647},
		"1073741824-2147483647*2": {1073741824},
	} {
		got, err := parseRanges(text, 0, 1<<31-1)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestMistakesOfRanges(t *testing.T) {
	for text, want := range map[string]string{
		"": "a whole number", "x": "a whole number", "1,": "a whole number", "-1": "a whole number", "1-": "a whole number", "1-x": "a whole number",
		"1-9*": "a whole number", "1-9+x": "a whole number", "1-9*2*2": "a whole number", "1-9+1*2": "a whole number", "+1": "a whole number", "99999999999": "a whole number",
		"9-1": "below its begin", "1-9*1": "never ends", "1-9+0": "never ends", "1-9*0": "never ends", "0-9*2": "never ends",
		"1-100": "more than 64", "1-40,41-80": "more than 64", "5,200000": "not from 0 to 100000",
	} {
		if got, err := parseRanges(text, 0, 100000); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want an error with %q", text, got, err, want)
		}
	}
}

func FuzzRanges(f *testing.F) {
	for _, s := range []string{"1,10,50", "1-1000*10", "1-9+2", "0-0*2", "1073741824-2147483647*2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseRanges(text, 0, 1<<30)
		if err != nil {
			return
		}
		if len(got) == 0 || len(got) > mostValues {
			t.Errorf("%d values", len(got))
		}
		for i, v := range got {
			if v < 0 || v > 1<<30 || slices.Contains(got[:i], v) {
				t.Errorf("%q: %v", text, got)
			}
		}
	})
}
