package main

import (
	"context"
	"strconv"

	"github.com/introgen/introgen/scripts/peers/peer"
)

// llamaEngines builds llama.cpp and lists the ways to run it: with its weights
// rewritten at load where it can, and without.
func llamaEngines(ctx context.Context, s *peer.Setup) ([]Engine, error) {
	llama, err := s.Llama(ctx)
	if err != nil {
		return nil, err
	}
	var engines []Engine
	for _, repack := range []string{"on", "off"} {
		name := "llama.cpp, repacking"
		if repack == "off" {
			name = "llama.cpp, no repacking"
		}
		engines = append(engines, Engine{Name: name, Family: "llama.cpp", Built: llama.Built,
			command: func(set Setting, model string, rounds int) (argv, env []string) {
				return llama.Command("--model", model, "--rounds", strconv.Itoa(rounds), "--steps", strconv.Itoa(decodeSteps),
					"--threads", strconv.Itoa(set.Threads), "--repack", repack)
			}})
	}
	return engines, nil
}
