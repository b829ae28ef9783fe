// Command pictures draws the figures of the docs from the recordings that are kept
// with the source:
//
//	go run ./scripts/pictures results/recorded docs/pictures
//
// Each is what the page of introgen draws of such a recording, as a file of its
// own, light or dark as its reader has it.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/introgen/introgen/results/plot"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pictures RECORDED PICTURES, the folders that it reads and writes")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func write(recorded, folder string) error {
	files, err := draw(recorded)
	if err != nil {
		return err
	}
	for name, svg := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(svg), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// draw draws all pictures, by the names of their files.
func draw(recorded string) (map[string]string, error) {
	states, err := open(recorded, "experiment-states.introgen")
	if err != nil {
		return nil, err
	}
	swept, err := open(recorded, "experiment-sweep.introgen")
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, p := range []struct {
		name string
		of   func() (plot.Figure, error)
	}{
		{"cold-start", func() (plot.Figure, error) { return coldStart(states) }},
		{"states", func() (plot.Figure, error) { return stages(states) }},
		{"compiles", func() (plot.Figure, error) { return compiles(states) }},
		{"steps", func() (plot.Figure, error) { return steps(states) }},
		{"sweep", func() (plot.Figure, error) { return sweep(swept) }},
	} {
		f, err := p.of()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		if f.Empty {
			return nil, fmt.Errorf("%s: there is nothing to draw", p.name)
		}
		out[p.name+".svg"] = plot.Standalone(f)
	}
	return out, nil
}
