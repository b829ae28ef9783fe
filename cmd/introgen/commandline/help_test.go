package commandline

import (
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

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
