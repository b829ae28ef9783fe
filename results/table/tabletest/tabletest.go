// Package tabletest holds what tables print to files in testdata, for the tests
// of the packages whose tables they are. `go test -update` writes them anew.
package tabletest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/system/terminal"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Golden fails the test where got is not what the file testdata/name holds.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

// Fits fails the test where a line of got is wider than a terminal.
func Fits(t *testing.T, got string) {
	t.Helper()
	for line := range strings.Lines(got) {
		if n := terminal.Width(strings.TrimSuffix(line, "\n")); n > table.Width {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
}
