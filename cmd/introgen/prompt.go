package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/introgen/introgen/bench"
	"github.com/urfave/cli/v2"
)

// promptSource decides where the prompt comes from and reads it once; the
// source encodes it in every round, as the experiment does.
func (g *generation) promptSource(c *cli.Context) (func() ([]int32, error), error) {
	given := 0
	for _, name := range []string{"prompt", "prompt-file", "prompt-ids"} {
		if c.IsSet(name) {
			given++
		}
	}
	if given > 1 {
		return nil, usagef("give one of --prompt, --prompt-file and --prompt-ids")
	}
	if c.IsSet("prompt-ids") {
		if c.Bool("raw-prompt") {
			return nil, usagef("--raw-prompt has no meaning with --prompt-ids, which are never put into a template")
		}
		ids, err := bench.ParseIDs(c.String("prompt-ids"), g.vocabulary())
		if err != nil {
			return nil, usageError{fmt.Errorf("--prompt-ids: %w", err)}
		}
		return func() ([]int32, error) { return ids, nil }, nil
	}
	text := c.String("prompt")
	if c.IsSet("prompt-file") {
		var err error
		if text, err = readPrompt(c.Context, c.String("prompt-file"), c.App.Reader); err != nil {
			return nil, err
		}
	}
	if text == "" {
		return nil, usagef("the prompt is empty: at least one character is needed")
	}
	if err := bench.CheckUTF8(text); err != nil {
		return nil, err
	}
	if !c.Bool("raw-prompt") {
		text = bench.Chat(text)
	}
	// Encoded once here, so that a prompt that cannot be is refused before a
	// model is loaded.
	if _, err := g.encode(text); err != nil {
		return nil, err
	}
	return func() ([]int32, error) { return bench.EncodePrompt(g.tok, text) }, nil
}

// readPrompt reads a file, or stdin where path is "-". Either may be a pipe or a
// terminal that gives nothing, so it stops waiting when ctx ends.
func readPrompt(ctx context.Context, path string, stdin io.Reader) (string, error) {
	type answer struct {
		text string
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		text, err := readAll(path, stdin)
		read <- answer{text, err}
	}()
	select {
	case a := <-read:
		return a.text, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func readAll(path string, stdin io.Reader) (string, error) {
	in := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("--prompt-file: %w", err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxPromptFile+1))
	if err != nil {
		return "", fmt.Errorf("--prompt-file %s: %w", path, err)
	}
	if len(text) > maxPromptFile {
		return "", fmt.Errorf("--prompt-file %s is longer than %d bytes, more than any context holds", path, maxPromptFile)
	}
	return string(text), nil
}
