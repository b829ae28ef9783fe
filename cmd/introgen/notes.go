package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/introgen/introgen/results/sanitize"
)

// noteTo prints a note to the user, on a line of its own whatever is in it.
func noteTo(stderr io.Writer, format string, a ...any) {
	fmt.Fprintf(stderr, "introgen: note: "+format+"\n", sanitize.Args(a)...)
}

// notes prints what a driver has to say beside the run. Of each kind it prints
// the first and counts the others: a damaged cache has hundreds of entries, and
// a full disk refuses every one.
type notes struct {
	say func(text string)
	mu  sync.Mutex // drivers compile in several goroutines
	n   map[string]int
}

func newNotes(say func(text string)) *notes { return &notes{say: say, n: map[string]int{}} }

// add takes a note and its kind, by which more like it are counted.
func (n *notes) add(kind, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.n[kind]++; n.n[kind] == 1 {
		n.say(text)
	}
}

// once says a note the first time that it is heard.
func (n *notes) once(kind, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.n[kind] == 0 {
		n.n[kind] = 1
		n.say(text)
	}
}

// end says how many were not printed.
func (n *notes) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, kind := range slices.Sorted(maps.Keys(n.n)) {
		if more := n.n[kind] - 1; more > 0 {
			n.say(fmt.Sprintf("%s: %d more like it", kind, more))
		}
	}
}
