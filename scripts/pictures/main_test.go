package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	recorded = filepath.Join("..", "..", "results", "recorded")
	pictures = filepath.Join("..", "..", "docs", "pictures")
)

// TestKeptPictures: the pictures of the docs are what the recordings give, and there
// are no others.
func TestKeptPictures(t *testing.T) {
	files, err := draw(recorded)
	if err != nil {
		t.Fatal(err)
	}
	const again = "run `go run ./scripts/pictures results/recorded docs/pictures`"
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(pictures, name))
		if err != nil {
			t.Fatalf("%v: %s", err, again)
		}
		if string(got) != want {
			t.Errorf("%s is not what its recording gives: %s", name, again)
		}
	}
	kept, err := os.ReadDir(pictures)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kept {
		if _, ok := files[k.Name()]; !ok {
			t.Errorf("nothing makes docs/pictures/%s", k.Name())
		}
	}
}

// TestPicturesTellTheExperiment: what the experiment printed stands in them.
func TestPicturesTellTheExperiment(t *testing.T) {
	files, err := draw(recorded)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{ // of experiment.txt
		"cold-start.svg": {"4333.7", "3828.6", "2130.6", "5869.4", "2144.1"},
		"states.svg":     {"4111.2", "6574.2", "43.1", "35.5", "10.2"},
		"compiles.svg":   {"4333.7", "789.1", "26.1"},
		"steps.svg":      {"cold 2: 5.90", "cpu 20: 10.0", "warm-cache 13: 3.90"},
		"sweep.svg":      {"11.6", "2.37", "100000"},
	} {
		var said strings.Builder
		d := xml.NewDecoder(strings.NewReader(files[name]))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if text, ok := token.(xml.CharData); ok {
				said.WriteString(string(text) + "\n")
			}
		}
		for _, w := range want {
			if !strings.Contains(said.String(), w) {
				t.Errorf("%s does not say %q", name, w)
			}
		}
	}
}

// TestPicturesStandAlone: they ask for nothing from elsewhere, and run nothing.
func TestPicturesStandAlone(t *testing.T) {
	files, err := draw(recorded)
	if err != nil {
		t.Fatal(err)
	}
	for name, svg := range files {
		for _, no := range []string{"<script", "href=", "@import", "http", "onload"} {
			if strings.Contains(strings.ReplaceAll(svg, "http://www.w3.org/2000/svg", ""), no) {
				t.Errorf("%s has %s", name, no)
			}
		}
		if len(svg) > 60_000 {
			t.Errorf("%s takes %d bytes", name, len(svg))
		}
	}
}
