package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestViewsCommands runs what docs/views.md shows of the timeline and the profile, on
// recordings that have the names that stand there.
func TestViewsCommands(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "views.md"))
	if err != nil {
		t.Fatal(err)
	}
	states, err := os.ReadFile(filepath.Join("..", "..", "results", "recorded", "experiment-states.introgen"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, name := range []string{"run", "cold", "warm"} {
		if err := os.WriteFile(name+".introgen", states, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ran := 0
	for _, section := range []string{"Timeline", "Profile"} {
		_, rest, ok := strings.Cut(string(text), "\n## "+section+"\n")
		if !ok {
			t.Fatalf("docs/views.md has no section %q", section)
		}
		section, _, _ := strings.Cut(rest, "\n## ")
		blocks := strings.Split(section, "```")
		for i := 1; i < len(blocks); i += 2 {
			for line := range strings.Lines(strings.TrimPrefix(blocks[i], "sh\n")) {
				words := strings.Fields(line)
				if len(words) < 2 {
					continue
				}
				ran++
				switch {
				case words[0] == "introgen":
					var out, errs bytes.Buffer
					if code := run(t.Context(), words, &out, &errs); code != exitOK {
						t.Errorf("%s: exit code %d, %s", line, code, &errs)
					}
				case strings.Contains(line, "-http="): // which does not end
				case words[0] == "go":
					cmd := exec.CommandContext(t.Context(), "go", words[1:]...)
					if out, err := cmd.CombinedOutput(); err != nil || len(out) == 0 {
						t.Errorf("%s: %v\n%s", line, err, out)
					}
				default:
					t.Errorf("docs/views.md shows %q, which nothing here can run", line)
				}
			}
		}
	}
	if ran < 7 {
		t.Errorf("docs/views.md shows %d commands of the timeline and the profile; the test looks at the wrong blocks", ran)
	}
}
