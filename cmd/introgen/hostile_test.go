package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	pprof "github.com/google/pprof/profile"
	"github.com/introgen/introgen/results/recording"
)

// hostile is what a recording from somebody else may have in its names: a
// terminal's title, colours, a turn of the direction of writing, lines that
// look like the tool's own.
const hostile = "\x1b]0;title\x07\x1b[31m\u009b31m\u202ex\r\nBenchmarkEvil 1 5 ns/op\n[cpu round 9] fake\x7f"

// tainted is a recording with something hostile in every text that is no key of
// the format.
func tainted(t *testing.T, lines []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for line := range bytes.Lines(lines) {
		var event map[string]any
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatal(err)
		}
		kind := event["k"]
		for key, value := range event {
			if key != "k" && key != "format" && key != "started" && (kind != "span" || key != "name") && (kind != "evidence" || key != "what") {
				event[key] = taint(value)
			}
		}
		if err := enc.Encode(event); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func taint(value any) any {
	switch v := value.(type) {
	case string:
		return v + hostile
	case []any:
		for i := range v {
			v[i] = taint(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = taint(v[key])
		}
	}
	return value
}

// TestHostileNames: whatever stands in a recording, no command that shows it
// sends the terminal anything but lines of its own.
func TestHostileNames(t *testing.T) {
	traced := func() []byte {
		text, err := os.ReadFile(filepath.Join("..", "..", "results", "recorded", "experiment-states.introgen"))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}()
	dir := t.TempDir()
	for name, text := range map[string][]byte{
		"states": traced,
		"live":   bytes.ReplaceAll(traced, []byte(`"view":{"label":""`), []byte(`"view":{"label":"metal","trace":true,"ids":true,"bench":true`)),
	} {
		path := filepath.Join(dir, name+recording.Ending)
		if err := os.WriteFile(path, tainted(t, text), 0o666); err != nil {
			t.Fatal(err)
		}
		commands := []string{"show FILE", "diff FILE", "diff FILE --style csv", "diff FILE --style markdown", "diff FILE FILE --by .file", "explain FILE", "explain FILE --mixed", "remedy FILE --mixed", "remedy FILE --threads 8 --mixed --style markdown",
			"bill FILE --mixed", "compare FILE --mixed", "compare FILE --mixed --style csv", "compare FILE --mixed --style rounded", "sweep FILE --mixed"}
		for _, as := range formatNames(format.asName) {
			if as == "pprof" {
				hostileProfile(t, path)
				continue
			}
			command := "show FILE --as " + as
			if x, _ := formatOf(format.asName, as); x.tables != nil {
				command += " -o " + filepath.Join(dir, "tables")
			}
			commands = append(commands, command)
		}
		for _, args := range commands {
			var out, errs bytes.Buffer
			code := run(t.Context(), strings.Fields("introgen "+strings.ReplaceAll(args, "FILE", path)), &out, &errs)
			if code != exitOK && errs.Len() == 0 {
				t.Errorf("%s: exit code %d, and no word of it", args, code)
			}
			for _, text := range []string{out.String(), errs.String()} {
				for line := range strings.Lines(text) {
					if i := strings.IndexFunc(line, func(r rune) bool {
						return r != '\n' && !unicode.IsGraphic(r) && (r != '\t' || !strings.HasPrefix(line, "Benchmark"))
					}); i >= 0 {
						t.Errorf("%s (%s) prints %q", args, name, line)
						break
					}
					if strings.HasPrefix(line, "BenchmarkEvil") || strings.HasPrefix(line, "[cpu round 9]") {
						t.Errorf("%s (%s) prints a line of the recording's own: %q", args, name, line)
						break
					}
				}
			}
		}
	}
}

// hostileProfile: a profile, which is compressed, has no text that commands a
// terminal.
func hostileProfile(t *testing.T, path string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"introgen", "show", path, "--as", "pprof"}, &out, &errs); code != exitOK {
		t.Errorf("a profile: exit code %d, %s", code, &errs)
		return
	}
	p, err := pprof.Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range append([]string{errs.String()}, strings.Split(p.String(), "\n")...) {
		if j := strings.IndexFunc(strings.TrimRight(text, "\n"), func(r rune) bool { return !unicode.IsGraphic(r) && (i > 0 || r != '\n') }); j >= 0 {
			t.Errorf("the profile has %q", text)
			return
		}
	}
}
