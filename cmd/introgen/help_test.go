package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// TestHelpFitsATerminal looks at the help of the program and of every command:
// within 80 columns, the flags' names on one line and what they do below.
func TestHelpFitsATerminal(t *testing.T) {
	paths := [][]string{nil}
	var walk func(cmds []*cli.Command, path []string)
	walk = func(cmds []*cli.Command, path []string) {
		for _, c := range cmds {
			at := append(append([]string(nil), path...), c.Name)
			paths = append(paths, at)
			walk(c.Subcommands, at)
		}
	}
	walk(newApp(&bytes.Buffer{}, &bytes.Buffer{}).Commands, nil)
	for _, path := range paths {
		t.Run(strings.Join(path, " "), func(t *testing.T) {
			var out, errs bytes.Buffer
			args := append(append([]string{"introgen"}, path...), "--help")
			if code := run(context.Background(), args, &out, &errs); code != exitOK {
				t.Fatalf("exit code %d: %s", code, &errs)
			}
			_, flags, _ := strings.Cut(out.String(), "OPTIONS:")
			for line := range strings.Lines(out.String()) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > helpWidth {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			if strings.Contains(flags, "`") && strings.Count(flags, "`")%2 != 0 {
				t.Errorf("a placeholder is not closed:\n%s", flags)
			}
		})
	}
}

func TestHelpIsBroken(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"short", "short"},
		{"   one two three four five six seven", "   one two three four five six\n   seven"},
		// The explanation below itself, or below a name that is too long.
		{"   cold  one two three four five six", "   cold  one two three four\n         five six"},
		{"      introgen command --with --flags --many  one two three", "      introgen command \\\n         --with --flags \\\n         --many\n         one two three"},
		{"      introgen cpu --one 1 --two 2 --three 3", "      introgen cpu --one \\\n         1 --two 2 --three 3"},
	} {
		if got := strings.Join(fitted(c.line, 30), "\n"); got != c.want {
			t.Errorf("%q is broken to\n%s\nwant\n%s", c.line, got, c.want)
		}
	}
	if got, want := paragraphs("a\nb:\nc\n\nExamples:\n   x\n   y\n\nd\ne"), "a b: c\n\nExamples:\n   x\n   y\n\nd e"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFlagHelp(t *testing.T) {
	for _, c := range []struct {
		flag cli.Flag
		want string
	}{
		{&cli.IntFlag{Name: "runs", Usage: "runs `N` of each", Value: 6}, "--runs N\n   runs N of each (default: 6)"},
		{&cli.StringSliceFlag{Name: "output", Aliases: []string{"o"}, Usage: "write `FILE`"}, "-o, --output FILE\n   write FILE"},
		{&cli.BoolFlag{Name: "ids", Usage: "print the new ids"}, "--ids\n   print the new ids"},
		{&cli.StringFlag{Name: "prompt", Usage: "what to ask", Value: "Why?"}, "--prompt VALUE\n   what to ask (default: \"Why?\")"},
	} {
		if got := flagHelp(c.flag); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
