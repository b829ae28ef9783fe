// Command experiment makes recordings of the figures that the experiment
// printed, so that every answer can be held against what the experiment itself
// concluded from them:
//
//	go run ./scripts/reference/experiment results/recorded
//
// It reads experiment.txt there, and writes experiment-states.introgen (cold,
// cold-natural, warm-cache, cpu) and experiment-sweep.introgen (the five numbers
// of commands a buffer). They are recordings in form only: each says in a note
// that it was made from printed figures. What was not printed is 0 (from the
// start of the process to the device, between phases), or was put in: the steps
// of a round of which only the sum is known are all alike, and command buffers
// and dispatches of a decode step are those that candle 0.11.0's own code gives
// (engine/metal/forward's tests hold them).
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: experiment FOLDER, which holds experiment.txt")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "experiment:", err)
		os.Exit(1)
	}
}

func write(folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, "experiment.txt"))
	if err != nil {
		return err
	}
	files, err := convert(string(text))
	if err != nil {
		return err
	}
	for name, lines := range files {
		if err := os.WriteFile(filepath.Join(folder, name), lines, 0o644); err != nil {
			return err
		}
	}
	return nil
}
