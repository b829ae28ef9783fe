package commandline

import (
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func TestFlagsMayStandAnywhere(t *testing.T) {
	app := &cli.App{
		Flags: []cli.Flag{&cli.BoolFlag{Name: "plain"}},
		Commands: []*cli.Command{
			{Name: "metal", Flags: []cli.Flag{
				&cli.BoolFlag{Name: "trace"}, &cli.GenericFlag{Name: "nonce", Value: &OptionalText{}},
				&cli.IntFlag{Name: "threads", Aliases: []string{"t"}}, &cli.StringFlag{Name: "io"},
			}},
			{Name: "model", Subcommands: []*cli.Command{
				{Name: "requantize", Flags: []cli.Flag{&cli.StringFlag{Name: "type"}}},
				{Name: "list"},
			}},
		},
	}
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"metal", "metal"},
		{"metal 2 --trace --nonce", "metal --trace --nonce 2"},
		{"metal --nonce 2", "metal --nonce 2"},
		{"metal --nonce=x 2 --io file", "metal --nonce=x --io file 2"},
		{"metal 2 --io=file -t 1", "metal --io=file -t 1 2"},
		{"metal --threads -1 3", "metal --threads -1 3"},
		{"metal -3", "metal -- -3"},
		{"metal 2 --unknown", "metal --unknown 2"},
		{"metal 2 -- --trace", "metal -- 2 --trace"},
		{"--plain metal 2", "--plain metal 2"},
		{"metal 2 --plain --trace", "--plain metal --trace 2"},
		{"model --plain requantize --type q8_0 in", "--plain model requantize --type q8_0 in"},
		{"model requantize in out --type q8_0", "model requantize --type q8_0 in out"},
		{"model requantize list --type q8_0 in", "model requantize --type q8_0 list in"},
		{"metal 2 --help", "metal --help"},
		{"nonsense --help", "nonsense"},
		{"model nonsense -h", "model nonsense"},
		{"help", "--help"},
		{"help metal", "metal --help"},
	} {
		got, err := flagsFirst(app, append([]string{"introgen"}, strings.Fields(c.in)...))
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if g := strings.Join(got[1:], " "); g != c.want {
			t.Errorf("%q became %q, want %q", c.in, g, c.want)
		}
	}
	if _, err := flagsFirst(app, []string{"introgen", "metal", "2", "--threads"}); err == nil || !strings.Contains(err.Error(), "--threads needs a value") {
		t.Errorf("a flag without its value: %v", err)
	}
}
