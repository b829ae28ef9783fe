package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/introgen/introgen/cmd/introgen/commandline"
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
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > commandline.HelpWidth {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			if strings.Contains(flags, "`") && strings.Count(flags, "`")%2 != 0 {
				t.Errorf("a placeholder is not closed:\n%s", flags)
			}
		})
	}
}
