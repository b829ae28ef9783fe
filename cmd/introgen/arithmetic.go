package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/introgen/introgen/engine/metal"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/figures"
)

// arithmeticFlag says whose arithmetic is computed on Metal.
func arithmeticFlag() cli.Flag {
	return &cli.StringFlag{Name: "arithmetic", Value: metal.OfModel.String(),
		Usage: "model (what the model's file asks for) or candle (what candle 0.11.0 computes of it, dispatch for dispatch, where that is something else)"}
}

func readArithmetic(c *cli.Context) (metal.Arithmetic, error) {
	a, err := metal.ParseArithmetic(c.String("arithmetic"))
	if err != nil {
		return a, usagef("--arithmetic: %w", err)
	}
	return a, nil
}

// muchRoom is how many bytes a run is told of that candle makes room for without need.
const muchRoom = 256 << 20

// madeRoom is a sentence about that, or "" where it is little.
func madeRoom(m *transformer.Model, a metal.Arithmetic) string {
	what, bytes := metal.Room(m)
	if a != metal.OfCandle || bytes < muchRoom {
		return ""
	}
	return fmt.Sprintf("candle 0.11.0 makes %s, %s, however short the run; with --arithmetic model there is room for the run alone", what, figures.Size(bytes))
}

// leftOut is a sentence about what candle leaves out of a model, or "" where that is
// nothing.
func leftOut(m *transformer.Model, a metal.Arithmetic) string {
	said := metal.LeftOut(m)
	if len(said) == 0 {
		return ""
	}
	what := strings.Join(said, "; ")
	if a == metal.OfCandle {
		return fmt.Sprintf("candle 0.11.0 does not compute this, so the text is not the model's (--arithmetic candle): %s", what)
	}
	return fmt.Sprintf("candle 0.11.0 does not compute this, and it is added (--arithmetic model): %s", what)
}
