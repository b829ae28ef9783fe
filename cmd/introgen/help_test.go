package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// TestHelpFitsATerminal looks at the flags of every command: names on one line,
// what they do below, within 80 columns, examples before them.
func TestHelpFitsATerminal(t *testing.T) {
	var paths [][]string
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
			for line := range strings.Lines(flags) {
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
