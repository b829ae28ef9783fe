package main

import (
	"strconv"
)

// introgenEngines are the two ways to run introgen: weights read where they lie
// in the file's mapping, and rewritten at load for long runs.
func introgenEngines(program, built string) []Engine {
	engine := func(name string, more ...string) Engine {
		return Engine{Name: name, Family: "introgen", Built: built,
			command: func(set Setting, model string, rounds int) (argv, env []string) {
				argv = []string{program, "cpu", strconv.Itoa(rounds), "--model", model, "--threads", strconv.Itoa(set.Threads),
					"--tokens", strconv.Itoa(decodeSteps), "--ids"}
				return append(argv, more...), nil
			}}
	}
	return []Engine{engine(variantDefault), engine(variantPack, "--pack")}
}

// The variants of introgen, by name.
const (
	variantDefault = "introgen"
	variantPack    = "introgen --pack"
)

// decodeSteps is the experiment's number of decode steps in a round.
const decodeSteps = 20
