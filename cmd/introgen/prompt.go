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
		&cli.StringFlag{Name: "prompt", Usage: asks + ", put into a chat template", Value: bench.DefaultPrompt},
		&cli.StringFlag{Name: "system", Usage: "`TEXT` of a system message before the prompt"},
		&cli.StringFlag{Name: "prompt-file", Usage: "read the prompt from `FILE`; - is standard input"},
		&cli.StringFlag{Name: "template", Usage: "the chat template: auto (the model file's own; of the experiment's model chatml, without a system message), none, chatml, or a jinja `FILE`", Value: templateAuto},
		&cli.BoolFlag{Name: "raw-prompt", Usage: "take the prompt as it is, without a chat template: --template none"},
		&cli.StringFlag{Name: "prompt-ids", Usage: "token `IDS` instead of a text: 1,4093,198"},
	}
}

// prompt is what a run is asked.
type prompt struct {
	ids   []int32
	again func() ([]int32, error) // makes the ids: in every round, as in the experiment
	// template is which one the text was put into, and templateWhy why that one
	// where the choice was open, as it stands behind "since"; "" of ids.
	template, templateWhy string
}

// promptTokens is the flag of a prompt's length, and mostPromptTokens the most that it
// takes; what the model's context holds is checked later.
const (
	promptTokens     = "prompt-tokens"
	mostPromptTokens = 1 << 20
)

// promptSource decides where the prompt comes from, reads it once, and gives it the
// length that is asked for.
func promptSource(c *cli.Context, v *vocabulary) (p prompt, err error) {
	n := c.Int(promptTokens)
	if c.IsSet(promptTokens) && (n < 1 || n > mostPromptTokens) {
		return p, usagef("--%s %d: 1 to %d are allowed", promptTokens, n, mostPromptTokens)
	}
	if p, err = wholePrompt(c, v); err != nil || n == 0 {
		return p, err
	}
	whole := p.again
	p.ids = bench.Lengthened(p.ids, n)
	p.again = func() ([]int32, error) {
		ids, err := whole()
		return bench.Lengthened(ids, n), err
	}
	return p, nil
}

// wholePrompt is the prompt as it was given.
func wholePrompt(c *cli.Context, v *vocabulary) (p prompt, err error) {
	given := 0
	for _, name := range []string{"prompt", "prompt-file", "prompt-ids"} {
		if c.IsSet(name) {
			given++
		}
	}
	if given > 1 {
		return p, usagef("give one of --prompt, --prompt-file and --prompt-ids")
	}
	if c.IsSet("prompt-ids") {
		for _, name := range []string{"raw-prompt", "template", "system"} {
			if c.IsSet(name) {
				return p, usagef("--%s has no meaning with --prompt-ids, which are never put into a template", name)
			}
		}
		if p.ids, err = bench.ParseIDs(c.String("prompt-ids"), v.size()); err != nil {
			return p, usagef("--prompt-ids: %w", err)
		}
		p.again = func() ([]int32, error) { return p.ids, nil }
		return p, nil
	}
	text := c.String("prompt")
	if c.IsSet("prompt-file") {
		if text, err = readPrompt(c.Context, c.String("prompt-file"), c.App.Reader); err != nil {
			return p, err
		}
	}
	if text == "" {
		return p, usagef("the prompt is empty: at least one character is needed")
	}
	if err := bench.CheckUTF8(text); err != nil {
		return p, err
	}
	chosen, err := readTemplate(c, v.file)
	if err != nil {
		return p, err
	}
	if text, err = chosen.put(c, v, text); err != nil {
		return p, err
	}
	// Encoded once here, so that a prompt that cannot be is refused before a
	// model is loaded.
	if p.ids, err = v.encode(text); err != nil {
		return p, err
	}
	p.again = func() ([]int32, error) { return bench.EncodePrompt(v.tok, v.adds, text) }
	p.template, p.templateWhy = chosen.name, chosen.why
	return p, nil
}

// readPrompt reads a file, or stdin where path is "-". Either may be a pipe or a
// terminal that gives nothing, so it stops waiting when ctx ends.
func readPrompt(ctx context.Context, path string, stdin io.Reader) (string, error) {
	return readText(ctx, "--prompt-file", path, stdin, maxPromptFile)
}

func readText(ctx context.Context, flag, path string, stdin io.Reader, most int) (string, error) {
	type answer struct {
		text string
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		text, err := readAll(flag, path, stdin, most)
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

// readAll reads the file that a flag names, of at most so many bytes.
func readAll(flag, path string, stdin io.Reader, most int) (string, error) {
	in := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("%s: %w", flag, err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, int64(most)+1))
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", flag, path, err)
	}
	if len(text) > most {
		return "", fmt.Errorf("%s %s is longer than %d bytes, more than is read", flag, path, most)
	}
	return string(text), nil
}
