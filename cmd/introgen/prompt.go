package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/introgen/introgen/bench"
	"github.com/urfave/cli/v2"
)

// promptFlags say what the prompt's ids are; asks says who asks.
func promptFlags(asks string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "prompt", Usage: asks + ", put into the model's chat template", Value: bench.DefaultPrompt},
		&cli.StringFlag{Name: "prompt-file", Usage: "read the prompt from `FILE`; - is standard input"},
		&cli.BoolFlag{Name: "raw-prompt", Usage: "take the prompt as it is, without the chat template"},
		&cli.StringFlag{Name: "prompt-ids", Usage: "token `IDS` instead of a text: 1,4093,198"},
	}
}

// promptSource decides where the prompt comes from and reads it once. It returns
// the ids, and what makes them again: in every round, as in the experiment.
func promptSource(c *cli.Context, v *vocabulary) (ids []int32, again func() ([]int32, error), err error) {
	given := 0
	for _, name := range []string{"prompt", "prompt-file", "prompt-ids"} {
		if c.IsSet(name) {
			given++
		}
	}
	if given > 1 {
		return nil, nil, usagef("give one of --prompt, --prompt-file and --prompt-ids")
	}
	if c.IsSet("prompt-ids") {
		if c.Bool("raw-prompt") {
			return nil, nil, usagef("--raw-prompt has no meaning with --prompt-ids, which are never put into a template")
		}
		ids, err := bench.ParseIDs(c.String("prompt-ids"), v.size())
		if err != nil {
			return nil, nil, usagef("--prompt-ids: %w", err)
		}
		return ids, func() ([]int32, error) { return ids, nil }, nil
	}
	text := c.String("prompt")
	if c.IsSet("prompt-file") {
		if text, err = readPrompt(c.Context, c.String("prompt-file"), c.App.Reader); err != nil {
			return nil, nil, err
		}
	}
	if text == "" {
		return nil, nil, usagef("the prompt is empty: at least one character is needed")
	}
	if err := bench.CheckUTF8(text); err != nil {
		return nil, nil, err
	}
	if !c.Bool("raw-prompt") {
		text = bench.Chat(text)
	}
	// Encoded once here, so that a prompt that cannot be is refused before a
	// model is loaded.
	if ids, err = v.encode(text); err != nil {
		return nil, nil, err
	}
	return ids, func() ([]int32, error) { return bench.EncodePrompt(v.tok, text) }, nil
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

// maxPromptFile is far beyond any use and keeps a slip of the finger from filling
// the memory.
const maxPromptFile = 16 << 20

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
