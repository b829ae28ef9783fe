package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/introgen/introgen/engine/metal"
	"github.com/introgen/introgen/engine/transformer"
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
