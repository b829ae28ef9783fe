package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The recordings that are kept are those that the figures give.
func TestKeptRecordings(t *testing.T) {
	folder := filepath.Join("..", "..", "..", "results", "recorded")
	text, err := os.ReadFile(filepath.Join(folder, "experiment.txt"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := convert(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 2 {
		t.Fatalf("%d files", len(files))
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from what experiment.txt gives: run `go run ./scripts/reference/experiment results/recorded`", name)
		}
	}
}

// A line that is not understood is no line that is left out.
func TestStrangeLines(t *testing.T) {
	for text, want := range map[string]string{
		"LIB  Cast 1 ms\n":                                        "before the first arm",
		"# arm cold: metal 2\nLIB Cast many ms\n":                 "invalid syntax",
		"# arm cold: metal 2\nhello\n":                            "not understood",
		"# arm cold: metal 2\n[metal round 1] text: \"\"":         "no such round",
		"# arm cold: metal 2\n[cpu round 1] decode steps (ms): 1": "no such round",
	} {
		if _, err := convert(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
