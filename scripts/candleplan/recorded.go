package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/introgen/introgen/engine/metal/commandbuffer"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/store"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

// recorded records candle, and reads what it asked of Metal.
func recorded(ctx context.Context, o options, prompt []int32, perBuffer int) (*did, error) {
	dir, err := os.MkdirTemp("", "candleplan-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "candle"+recording.Ending)
	words := make([]string, len(prompt))
	for i, id := range prompt {
		words[i] = strconv.Itoa(int(id))
	}
	cmd := exec.CommandContext(ctx, o.introgen, "record", "--quiet", "--dispatches", "-o", path, "--",
		o.program, o.model, "--prompt-ids", strings.Join(words, ","), "--tokens", strconv.Itoa(o.tokens))
	cmd.Env = append(os.Environ(), store.KeepEnv+"=0", fmt.Sprintf("%s=%d", commandbuffer.Env, perBuffer))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, &stderr)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := &did{}
	for _, word := range strings.Fields(string(out)) {
		id, err := strconv.ParseInt(word, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("it printed %q, where ids are wanted", out)
		}
		d.ids = append(d.ids, int32(id))
	}
	return d, d.read(f)
}

// read reads a recording's events, in the order in which they happened.
func (d *did) read(f *os.File) error {
	spans := map[trace.ID]trace.Record{}
	constants := map[trace.ID]string{}
	within := map[trace.ID][]string{} // dispatches and barriers of an encoder
	for e, err := range recording.Events(f) {
		if err != nil {
			return err
		}
		switch e := e.(type) {
		case *recording.Span:
			spans[e.ID] = e.Record
		case *recording.Pipeline:
			constants[e.Span] = e.Constants
		case *recording.Dispatch:
			within[e.Span] = append(within[e.Span], dispatchText(e.Library, e.Function, e.Grid, e.Group, e.Threads))
		case *recording.Barrier:
			within[e.Span] = append(within[e.Span], "barrier "+e.Scope)
		case *recording.End:
			if e.Lost > 0 || e.LostSlots > 0 {
				return fmt.Errorf("%d events are lost", e.Lost+e.LostSlots)
			}
		}
	}
	var ids []trace.ID
	for id := range spans {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		switch s := spans[id]; s.Name {
		case names.SpanLibrary:
			d.compiled = append(d.compiled, "LIB "+s.Detail)
		case names.SpanPipeline:
			d.compiled = append(d.compiled, strings.TrimSpace("PIPE "+s.Detail+" "+constants[id]))
		case names.SpanEncoder:
			d.encoded = append(append(d.encoded, "encoder "+s.Detail), within[id]...)
		case names.SpanCommit:
			d.encoded = append(d.encoded, fmt.Sprintf("commit %d", s.N))
		}
	}
	return nil
}
