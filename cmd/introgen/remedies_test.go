package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatMadeItGoAway: the last step of docs/experiment.md shows what introgen prints of
// the recording that was made for it.
func TestWhatMadeItGoAway(t *testing.T) {
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "experiment.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, step, ok := strings.Cut(string(docs), "## 9. What made it go away")
	if !ok {
		t.Fatal("docs/experiment.md does not say what made it go away")
	}
	var out, errs bytes.Buffer
	path := filepath.Join("..", "..", "results", "recorded", "remedies.introgen")
	if code := run(t.Context(), []string{"introgen", "remedy", path}, &out, &errs); code != exitOK {
		t.Fatalf("exit code %d, %s", code, &errs)
	}
	if want := out.String(); want == "" || !strings.Contains(step, want) {
		t.Errorf("docs/experiment.md does not show what is printed of %s:\n%s", path, want)
	}
}
