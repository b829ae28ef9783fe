package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/system/machine"
	"github.com/urfave/cli/v2"
)

// newHeader says what a command runs on and with. origins has the knobs whose
// value does not come from a flag or its default alone.
func newHeader(c *cli.Context, args []string, origins map[string]recording.Knob) *recording.Header {
	return &recording.Header{
		Format: recording.Format, Version: recording.Version, Tool: tool(),
		Command: c.Command.Name, Args: args, Started: time.Now().UTC().Round(0), PID: os.Getpid(),
		Host: recording.Host(machine.Host()), Knobs: knobs(c, origins), Environment: environment(os.Environ()),
	}
}

// longestValue is how much of a knob's value is kept: a prompt may be long.
const longestValue = 4096

// knobs are the command's flags with their values, whoever set them.
func knobs(c *cli.Context, origins map[string]recording.Knob) []recording.Knob {
	flags := c.Command.Flags
	if c.IsSet(profileName) { // it costs time: who reads the times must know
		flags = append(slices.Clone(flags), profileFlag())
	}
	var out []recording.Knob
	for _, f := range flags {
		name := f.Names()[0]
		if name == "output" || name == cli.HelpFlag.Names()[0] {
			continue
		}
		k := recording.Knob{Name: name, Value: flagValue(c, f, name), Origin: recording.FromDefault}
		if c.IsSet(name) {
			k.Origin = recording.FromFlag
		}
		if o, ok := origins[name]; ok {
			k.Value, k.Origin, k.Source = o.Value, o.Origin, o.Source
		}
		if n := len(k.Value); n > longestValue {
			k.Value = fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(k.Value[:longestValue], ""), n)
		}
		out = append(out, k)
	}
	if k, ok := origins[roundsKnob]; ok {
		out = append(out, k)
	}
	return out
}

// roundsKnob is the argument of the generating commands.
const roundsKnob = "rounds"

func flagValue(c *cli.Context, f cli.Flag, name string) string {
	switch f.(type) {
	case *cli.GenericFlag:
		return fmt.Sprint(c.Generic(name))
	case *cli.StringSliceFlag:
		return strings.Join(c.StringSlice(name), " ")
	}
	return fmt.Sprint(c.Value(name))
}

// environment picks the variables that change what a run does.
func environment(all []string) map[string]string {
	out := map[string]string{}
	for _, v := range all {
		name, value, _ := strings.Cut(v, "=")
		if slices.Contains([]string{"GOMAXPROCS", "GODEBUG", "GOGC", "GOMEMLIMIT", "XDG_CACHE_HOME", "XDG_STATE_HOME"}, name) ||
			slices.ContainsFunc([]string{"INTROGEN_", "INTRO_", "CANDLE_", "METAL_", "MTL_"}, func(p string) bool { return strings.HasPrefix(name, p) }) {
			out[name] = value
		}
	}
	return out
}

// modelFile is what the header says of the model before its tensors are known.
func modelFile(path string) recording.Model {
	m := recording.Model{File: sanitize.Line(filepath.Base(path))}
	if is, err := os.Stat(path); err == nil {
		m.Bytes = is.Size()
	}
	return m
}
