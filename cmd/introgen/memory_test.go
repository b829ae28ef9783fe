package main

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/transformer/transformertest"
)

// TestMoreMemoryThanThereIs: a file of 10 TB, nearly all of it a hole, is refused by
// its header, whatever runs it.
func TestMoreMemoryThanThereIs(t *testing.T) {
	path := worded(t, func(w *transformertest.Writable) { w.Hole = 10e12 })
	for _, engine := range []string{"cpu", "metal"} {
		out, errs, code := command(t, engine, "1", "--model", path, "--prompt-ids", "1,2", "--tokens", "1")
		const want = "introgen: the run needs at least 10000.0 GB of memory (10000.0 GB of weights, "
		if code != exitFailed || out != "" || !strings.HasPrefix(errs, want) || !strings.Contains(errs, " of keys and values of 3 positions), and the system can give ") {
			t.Errorf("%s ended with %d, stdout %q, stderr %q", engine, code, out, errs)
		}
	}
}
