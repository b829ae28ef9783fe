package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/results/shellwords"
)

var fenced = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// TestAuthorsPage runs every command of docs/authors.md on the files that it shows.
func TestAuthorsPage(t *testing.T) {
	if _, err := clang.Find(t.Context()); err != nil {
		t.Skipf("SKIP: needs clang 19: %v", err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "authors.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var commands []string
	for _, m := range fenced.FindAllStringSubmatch(string(page), -1) {
		switch m[1] {
		case "sh":
			commands = append(commands, strings.Split(strings.TrimSpace(m[2]), "\n")...)
		case "metal", "toml":
			if err := os.WriteFile("twice."+m[1], []byte(m[2]), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(commands) != 7 {
		t.Errorf("the page has %d commands", len(commands))
	}
	for _, line := range commands {
		words, err := shellwords.Split(line)
		if err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		if code := run(t.Context(), words, &out, &errs); code != exitOK {
			t.Errorf("%s: exit code %d\n%s%s", line, code, &out, &errs)
		}
		if strings.HasSuffix(line, "y=-") && out.String() != "0 2 4 6\n8 10 12 14\n" {
			t.Errorf("%s prints\n%s", line, &out)
		}
	}
}
