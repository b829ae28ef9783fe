package main

import (
	"os"
	"runtime/debug"
)

// startPercent is GOGC until the first round is over: the heap of a process that starts
// is garbage by a tenth, and the collections at 4 and at 8 MB fall into the tokenizer's
// getting ready and into the prefill, whose threads they take a core from.
const startPercent = 400

// calmHeap lets the heap grow further before it is collected, until restore is called.
// Where GOGC is set, it stays what it is.
func calmHeap() (restore func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(startPercent)
	return func() { debug.SetGCPercent(before) }
}
