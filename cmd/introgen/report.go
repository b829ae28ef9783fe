package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/llama"
	"github.com/introgen/introgen/engine/metal"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/results/answers/coverage"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
)

// coverageAgain is the answer of coverage --verify. What the runs needed is
// computed from the model, as the command did.
func coverageAgain(f *recording.File) (doc *table.Document, err error) {
	runs := map[string]coverage.Run{}
	name := ""
	for _, a := range f.Plan.Arms {
		ids := argument(a.Args, "--prompt-ids")
		steps, err := strconv.Atoi(argument(a.Args, "--tokens"))
		if err != nil || ids == "" {
			return nil, fmt.Errorf("the plan does not say what its run %q was", a.Name)
		}
		runs[a.Name], name = coverage.Run{Prompt: strings.Count(ids, ",") + 1, Steps: steps}, argument(a.Args, "--model")
	}
	path, err := models.Find(name)
	if err != nil {
		return nil, err
	}
	file, err := gguf.Open(path, gguf.MMap)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	model, err := llama.Load(file)
	if err != nil {
		return nil, err
	}
	needs, err := metal.Needs(model, "")
	if err != nil {
		return nil, err
	}
	a, err := coverage.Of(foretold{needs}, runs["full"], runs["warm-up"])
	if err != nil {
		return nil, err
	}
	return verified(a, foretold{needs})(f)
}

// argument is the value behind a flag of a command line, or "".
func argument(args []string, flag string) string {
	if i := slices.Index(args, flag); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}
