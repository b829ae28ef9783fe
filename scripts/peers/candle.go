package main

import (
	"context"
	"strconv"

	"github.com/introgen/introgen/scripts/peers/peer"
)

// candleEngines builds candle and lists the ways to run it: the header read as the
// experiment did it, and of the native build also buffered.
func candleEngines(ctx context.Context, s *peer.Setup) ([]Engine, error) {
	builds, err := s.Candle(ctx)
	var engines []Engine
	for _, b := range builds {
		engines = append(engines, candleEngine("candle "+b.Name, b.Family, b.Built+", header read through File", b.Program, "file"))
		if b.Name == "native" {
			engines = append(engines, candleEngine("candle native, buffered", b.Family, b.Built+", header read through BufReader", b.Program, "buffered"))
		}
	}
	return engines, err
}

func candleEngine(name, family, built, program, reader string) Engine {
	return Engine{Name: name, Family: family, Built: built,
		command: func(set Setting, model string, rounds int) (argv, env []string) {
			threads := strconv.Itoa(set.Threads)
			return []string{program, "--model", model, "--rounds", strconv.Itoa(rounds), "--steps", strconv.Itoa(decodeSteps), "--reader", reader},
				[]string{"CANDLE_NUM_THREADS=" + threads, "RAYON_NUM_THREADS=" + threads}
		}}
}
