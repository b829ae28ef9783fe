package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/results/table"
	"github.com/urfave/cli/v2"
)

// Flags that several commands have, each with what reads it. Those of the prompt,
// of the tokenizer, of the outputs and of plans stand beside what they are for.

// aModel is what --model takes.
const aModel = "GGUF `FILE`, or the name of one that `introgen model list` shows"

func modelFlag(usage string) cli.Flag { return &cli.StringFlag{Name: "model", Usage: usage} }

// findModel finds the file that --model names.
func findModel(c *cli.Context) (path string, err error) {
	if c.IsSet("model") && c.String("model") == "" {
		return "", usagef("--model is empty: a file or the name of a model is wanted")
	}
	return models.Find(c.String("model"))
}

func tokensFlag(usage string) cli.Flag { return &cli.IntFlag{Name: "tokens", Usage: usage, Value: 20} }

// readTokens reads the number of decode steps.
func readTokens(c *cli.Context) (int, error) {
	n := c.Int("tokens")
	if n < 0 {
		return 0, usagef("--tokens %d: the number of decode steps is 0 or more", n)
	}
	return n, nil
}

// readIO reads a name of a reader of model files.
func readIO(name string) (gguf.IO, error) {
	mode, err := gguf.ParseIO(name)
	if err != nil {
		return "", usagef("--io: %w", err)
	}
	return mode, nil
}

func mixedFlag() cli.Flag {
	return &cli.BoolFlag{Name: "mixed", Usage: "show also runs of different models, machines or versions beside each other"}
}

func styleFlag() cli.Flag {
	return &cli.StringFlag{Name: "style", Usage: "how tables look: " + strings.Join(styles(), ", "), Value: styles()[0]}
}

// styles are the names of the styles, the default first.
func styles() []string {
	names := make([]string, len(table.Styles))
	for i, s := range table.Styles {
		names[i] = string(s)
	}
	return names
}

func readStyle(c *cli.Context) (table.Style, error) {
	style, err := table.ParseStyle(c.String("style"))
	if err != nil {
		return "", usagef("--style: %w", err)
	}
	return style, nil
}

// readList reads names between commas, each once.
func readList(text string) []string {
	var out []string
	for _, s := range strings.Split(text, ",") {
		if s = strings.TrimSpace(s); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// readNumber reads 2% or 0.02, and whether it was in percent.
func readNumber(text string) (v float64, percent bool, err error) {
	text, percent = strings.CutSuffix(text, "%")
	v, err = strconv.ParseFloat(strings.TrimSpace(text), 64)
	return v, percent, err
}

// readPart reads a part of a whole: 2% or 0.02.
func readPart(text string) (float64, error) {
	v, percent, err := readNumber(strings.TrimSpace(text))
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v <= 1) {
		return 0, errors.New("a part from 0% to 100% is wanted, such as 2%")
	}
	return v, nil
}

// readShare reads how much more something is: 5% or 0.05, also beyond 100%.
func readShare(text string) (float64, error) {
	v, percent, err := readNumber(text)
	if err != nil || !(v >= 0 && v <= 1e6) {
		return 0, fmt.Errorf("%q is no share: 5%% or 0.05 is wanted", text)
	}
	if !percent && v >= 1 {
		return 0, fmt.Errorf("%q is no share, unless %s%% is meant: 5%% or 0.05 is wanted", text, text)
	}
	if percent {
		v /= 100
	}
	return v, nil
}
