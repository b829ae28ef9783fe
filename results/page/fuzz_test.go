package page_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/introgen/introgen/results/page"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
)

// FuzzWrite makes pages of whatever can be read as a recording: there is a page, or an
// error that says why not.
func FuzzWrite(f *testing.F) {
	for _, name := range []string{"experiment-states", "experiment-sweep"} {
		text, err := os.ReadFile(filepath.Join("..", "recorded", name+recording.Ending))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:min(len(text), 20_000)])
	}
	f.Add(programtest.Bytes(programtest.Marked(programtest.Cold)))
	f.Add(programtest.Bytes(programtest.Unmarked(programtest.Warm)))
	f.Add(programtest.Bytes(programtest.Detailed()))
	f.Add(programtest.Bytes(programtest.Engine(programtest.Natural)))
	f.Add(programtest.Bytes(programtest.Steps(8, 80, true)))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := recording.Read(bytes.NewReader(text), "fuzzed")
		if err != nil {
			t.Skip()
		}
		all := []page.Recording{{Name: "a", File: file}, {Name: "b", File: file}}
		if err := page.Write(io.Discard, all[:1+len(text)%2], page.Options{}); err != nil && len(text) < 1<<16 {
			t.Error(err)
		}
	})
}
