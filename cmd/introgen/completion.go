package main

import (
	"fmt"
	"strings"

	"github.com/introgen/introgen/bench/plan"
	"github.com/introgen/introgen/engine/chat"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/metal"
	"github.com/introgen/introgen/engine/tokenizer"
	"github.com/introgen/introgen/results/store"
	"github.com/urfave/cli/v2"
)

// The scripts ask the program itself: see complete.
var completions = map[string]string{
	"bash": `_introgen() {
  local cur="${COMP_WORDS[COMP_CWORD]}" words=("${COMP_WORDS[@]:0:COMP_CWORD}")
  [[ "$cur" == -* ]] && words+=("$cur")
  COMPREPLY=($(compgen -W "$("${words[@]}" --generate-bash-completion 2>/dev/null)" -- "$cur"))
}
complete -o bashdefault -o default -F _introgen introgen
`,
	"zsh": `#compdef introgen
_introgen() {
  local cur="${words[CURRENT]}" line=("${(@)words[1,CURRENT-1]}")
  [[ "$cur" == -* ]] && line+=("$cur")
  local -a found=("${(@f)$("${line[@]}" --generate-bash-completion 2>/dev/null)}")
  _describe 'introgen' found
  _files
}
compdef _introgen introgen
`,
}

func completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the shell's completion script",
		ArgsUsage: "bash|zsh|fish",
		Description: "Examples:\n" +
			"   source <(introgen completion bash)\n" +
			"   introgen completion fish > ~/.config/fish/completions/introgen.fish",
		Action: func(c *cli.Context) error {
			shell := c.Args().First()
			if c.NArg() != 1 {
				return usagef("completion takes one shell: bash, zsh or fish")
			}
			script, ok := completions[shell]
			if shell == "fish" {
				var err error
				if script, err = c.App.ToFishCompletion(); err != nil {
					return fmt.Errorf("writing the fish completion: %w", err)
				}
				ok = true
			}
			if !ok {
				return usagef("completion for %q is not known: bash, zsh or fish", shell)
			}
			_, err := fmt.Fprintln(c.App.Writer, strings.TrimRight(script, "\n"))
			return err
		},
	}
}

// flagChoices are the values of flags that have few. What is no word of them, a
// file or a number, is left to the shell and the user.
func flagChoices(name string) []string {
	switch name {
	case "as":
		return formatNames(format.asName)
	case "style":
		return styles()
	case "io":
		return []string{string(gguf.MMap), string(gguf.Buffered), string(gguf.FileIO)}
	case "template":
		return []string{templateAuto, templateNone, chat.ChatML}
	case "tokenizer":
		return tokenizer.Kinds
	case "compile":
		return metal.CompileModes()
	case "code":
		return codeNames()
	case "order":
		return []string{plan.OrderRandom, plan.OrderABBA}
	}
	return nil
}

// completeRecordings, the BashComplete of every command that takes recordings,
// prints the numbers of those that are kept. A shell that completes has no place
// for an error; one of the writer is kept by it.
func completeRecordings(c *cli.Context) {
	state, err := store.Dir()
	if err != nil {
		return
	}
	entries, err := store.List(state)
	if err != nil {
		return
	}
	for _, e := range entries {
		fmt.Fprintln(c.App.Writer, e.Number)
	}
}
