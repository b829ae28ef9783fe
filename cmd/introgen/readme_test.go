package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
	"github.com/introgen/introgen/results/shellwords"
)

// TestReadmeCommands runs every introgen command that the README shows, and
// looks for every make target: `make run` and `make test` are what .ci/run
// calls.
func TestReadmeCommands(t *testing.T) {
	modeltest.Path(t, models.StandIn)
	// The processes that a plan starts are this test's own program, which is
	// the command where it is called so.
	name := os.Args[0]
	os.Args[0] = "introgen"
	defer func() { os.Args[0] = name }()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // for the files that commands write
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(readme), -1) {
		for line := range strings.Lines(block[1]) {
			command, _, _ := strings.Cut(strings.TrimSpace(line), " #")
			words, err := shellwords.Split(command)
			if err != nil {
				t.Fatalf("%q: %v", command, err)
			}
			switch {
			case len(words) == 0:
			case words[0] == "introgen":
				ran++
				if len(words) > 1 && slices.Contains([]string{"compare", "sweep", "bench"}, words[1]) {
					words = append(words, "--runs", "1") // six take a minute each
				}
				t.Run(strings.Join(words[1:], " "), func(t *testing.T) {
					var out, errs bytes.Buffer
					if code := run(context.Background(), words, &out, &errs); code != exitOK {
						t.Errorf("exit code %d: %s", code, &errs)
					}
					if at := slices.Index(words, "-o"); at > 0 {
						if is, err := os.Stat(words[at+1]); err != nil || is.Size() == 0 {
							t.Errorf("nothing was written: %v", err)
						}
					} else if out.Len() == 0 {
						t.Error("nothing was printed")
					}
				})
			case words[0] == "make" && len(words) == 2:
				if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(words[1]) + `:`).Match(makefile) {
					t.Errorf("the README shows %q, the Makefile has no such target", command)
				}
			default:
				t.Errorf("the README shows %q, which nothing here can run", command)
			}
		}
	}
	if ran < 7 {
		t.Errorf("the README shows %d commands of introgen; the test looks at the wrong blocks", ran)
	}
}

// TestReadmeOutput holds the output that the README shows to the form and the
// text of what the command prints.
func TestReadmeOutput(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/script/cpu.txtar")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)\\$ introgen cpu 3\n(.*?)```").FindStringSubmatch(string(readme))
	golden := regexp.MustCompile(`(?s)-- three.txt --\n(.*?)-- `).FindStringSubmatch(string(script))
	if shown == nil || golden == nil {
		t.Fatal("the README or the script has no output of `introgen cpu 3`")
	}
	if got := masked(shown[1]); got != golden[1] {
		t.Errorf("the README shows\n%s\nwhere the command prints\n%s", got, golden[1])
	}
}

// TestReadmeRemedy: what the README shows of a recording that is here is how the output
// of the command begins.
func TestReadmeRemedy(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)\\$ introgen (remedy [^\n]*)\n(.*?)```").FindStringSubmatch(string(readme))
	if shown == nil {
		t.Fatal("the README shows no output of `introgen remedy`")
	}
	t.Chdir("../..")
	var out, errs bytes.Buffer
	if code := run(t.Context(), append([]string{"introgen"}, strings.Fields(shown[1])...), &out, &errs); code != exitOK {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	if !strings.HasPrefix(out.String(), shown[2]) {
		t.Errorf("the README shows\n%s\nwhere the command prints\n%s", shown[2], &out)
	}
}
