package main

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	pprof "github.com/google/pprof/profile"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/parquet-go/parquet-go"
)

// attack is what a name says that wants to be more than a name: to a spreadsheet a
// formula, to a page a script, an element, an attribute, an address, to a template an
// action, and to a terminal what hostile is.
const attack = "=HYPERLINK(\"javascript:hacked=1\"),=1+1,@x\t-2+3</script></style></title></svg><script>window.hacked=1</script>" +
	"<img src=x onerror=hacked=1>' onload='hacked=1\" onfocus=\"hacked=1\" autofocus {{.}} ${hacked=1} <!-- ]]> &lt;b&gt; \u2066\u200f\ufeff\x00" + hostile

// codes are the keys whose values programs read: a run with others is none.
var codes = map[string]bool{"k": true, "format": true, "started": true, "what": true, "cache": true, "state": true, "origin": true, "stream": true, "order": true,
	"refused_code": true, "code": true, "command": true, "driver": true, "tokenizer": true, "weights": true, "os": true, "arch": true, "signal": true, "scope": true}

// named are recordings of all kinds in which every name and text is changed, and whose
// runs count all the same.
func named(t *testing.T, change func(string) string) map[string][]byte {
	t.Helper()
	traced := programtest.Engine(programtest.Cold)
	traced.Events = slices.Insert(traced.Events, len(traced.Events)-1, recording.Event(&recording.Limit{What: recording.LimitMemory, Threads: 2, Best: 2e10, Median: 1e10, Samples: 10, Kernel: "avx2", Bytes: 1 << 30}))
	parent, child := programtest.Child()
	out := map[string][]byte{"states": recorded(t, "experiment-states"), "sweep": recorded(t, "experiment-sweep"), "three": sweepOfThree(), "engine": programtest.Bytes(traced),
		"program": programtest.Bytes(programtest.Marked(programtest.Warm)), "detailed": programtest.Bytes(programtest.Detailed()), "children": programtest.Bytes(parent, child)}
	for name, text := range out {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		for line := range bytes.Lines(text) {
			var event map[string]any
			d := json.NewDecoder(bytes.NewReader(line))
			d.UseNumber()
			if err := d.Decode(&event); err != nil {
				t.Fatal(err)
			}
			kind := event["k"]
			changed := changeTexts(event, func(key, value string) string {
				if codes[key] || kind == "span" && key == "name" || kind == "count" && key == "name" || kind == "knobs" {
					return value
				}
				return change(value)
			})
			if err := enc.Encode(changed); err != nil {
				t.Fatal(err)
			}
		}
		out[name] = b.Bytes()
	}
	return out
}

// changeTexts changes the texts of a value, each with the key that it has or lies
// under.
func changeTexts(value any, change func(key, text string) string) any {
	var walk func(key string, value any) any
	walk = func(key string, value any) any {
		switch v := value.(type) {
		case string:
			return change(key, v)
		case []any:
			for i := range v {
				v[i] = walk(key, v[i])
			}
		case map[string]any:
			for k := range v {
				v[k] = walk(k, v[k])
			}
		}
		return value
	}
	return walk("", value)
}

// output is what a view of a recording is written to.
type output struct {
	view  string // its command line or its ending
	bytes []byte
}

// views are all that can be made of a recording. What is refused must say why, in a
// line.
func views(t *testing.T, path string) []output {
	t.Helper()
	dir := t.TempDir()
	var out []output
	try := func(view string, args ...string) bool {
		t.Helper()
		var stdout, stderr bytes.Buffer
		began := time.Now()
		code := run(t.Context(), append([]string{"introgen"}, args...), &stdout, &stderr)
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("%s takes %v", view, took)
		}
		if code != exitOK && (code > exitUsage || stderr.Len() == 0) {
			t.Errorf("%s: exit code %d, %.500q", view, code, &stderr)
		}
		out = append(out, output{view, stdout.Bytes()}, output{view + ", stderr", stderr.Bytes()})
		return code == exitOK
	}
	read := func(file string) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		out = append(out, output{filepath.Base(file), text})
	}
	for _, x := range formats() {
		if x.tables != nil {
			folder := filepath.Join(dir, x.as)
			if try("show --as "+x.as, "show", path, "--as", x.as, "-o", folder) {
				files, err := filepath.Glob(filepath.Join(folder, "*"))
				if err != nil || len(files) == 0 {
					t.Errorf("--as %s writes %v, %v", x.as, files, err)
				}
				for _, file := range files {
					read(file)
				}
			}
			continue
		}
		if x.as != "" {
			try("show --as "+x.as, "show", path, "--as", x.as)
		}
		if x.ending != "" && x.view != nil {
			file := filepath.Join(dir, "view"+x.ending)
			if try("show -o "+x.ending, "show", path, "-o", file) {
				read(file)
			}
		}
	}
	for _, args := range [][]string{{"report", path}, {"compare", path, "--mixed", "--style", "csv"}, {"sweep", path, "--mixed", "--style", "csv"}, {"bill", path, "--mixed", "--style", "csv"},
		{"explain", path, "--mixed"}, {"remedy", path, "--mixed", "--style", "csv"}, {"diff", path, path, "--style", "csv"}} {
		try(strings.Join(slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == path }), " "), args...)
	}
	return out
}

// unpack is a view as programs read it: unpacked, and of tables and JSON the texts.
func unpack(t *testing.T, w output) (texts []string) {
	t.Helper()
	b := w.bytes
	if bytes.HasPrefix(b, []byte("\x1f\x8b")) {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err == nil {
			b, err = io.ReadAll(z)
		}
		if err != nil {
			t.Errorf("%s: %v", w.view, err)
		}
	}
	switch {
	case strings.HasSuffix(w.view, "pprof") || strings.HasSuffix(w.view, ".pb.gz"):
		p, err := pprof.ParseData(b)
		if err != nil {
			if len(b) > 0 {
				t.Errorf("%s: %v", w.view, err)
			}
			return nil
		}
		texts = append(p.Comments, p.DropFrames, p.KeepFrames)
		for _, f := range p.Function {
			texts = append(texts, f.Name, f.SystemName, f.Filename)
		}
		for _, s := range p.Sample {
			for key, values := range s.Label {
				texts = append(append(texts, key), values...)
			}
		}
		return texts
	case bytes.HasPrefix(b, []byte("PAR1")):
		r := parquet.NewReader(bytes.NewReader(b))
		into := make([]parquet.Row, 1)
		for {
			n, err := r.ReadRows(into)
			if n == 0 {
				if !errors.Is(err, io.EOF) {
					t.Errorf("%s: %v", w.view, err)
				}
				return texts
			}
			for _, v := range into[0] {
				texts = append(texts, v.String())
			}
		}
	case bytes.HasPrefix(b, []byte("{")):
		var value any
		if err := json.Unmarshal(b, &value); err != nil {
			t.Errorf("%s is no JSON: %v", w.view, err)
		}
		changeTexts(value, func(_, text string) string {
			texts = append(texts, text)
			return text
		})
		return texts
	}
	return []string{string(b)}
}

var (
	script    = regexp.MustCompile(`(?is)<(script|style)\b[^>]*>.*?</(script|style)>`)
	tag       = regexp.MustCompile(`(?s)<!--.*?-->|<!DOCTYPE html>|</?[a-zA-Z][\w:-]*(?:\s+[\w:-]+(?:="[^"]*")?)*\s*/?>`)
	attribute = regexp.MustCompile(`\s([\w:-]+)(?:="([^"]*)")?`)
)

// smuggled is what a page has that it would not make itself: an element that asks for
// something, an attribute that is a script, what is no tag.
func smuggled(page []byte) string {
	rest := script.ReplaceAll(page, nil)
	for _, t := range tag.FindAllString(string(rest), -1) {
		name := strings.ToLower(strings.TrimLeft(strings.FieldsFunc(t, func(r rune) bool { return unicode.IsSpace(r) || r == '>' || r == '/' && len(t) > 2 })[0], "</"))
		if slices.Contains([]string{"img", "iframe", "object", "embed", "base", "form", "input"}, name) {
			return t
		}
		for _, a := range attribute.FindAllStringSubmatch(t, -1) {
			if key := strings.ToLower(a[1]); strings.HasPrefix(key, "on") || key == "autofocus" || key == "style" || strings.Contains(strings.ToLower(a[2]), "javascript:") && (key == "href" || key == "src" || key == "xlink:href") {
				return t
			}
		}
	}
	if i := bytes.IndexAny(tag.ReplaceAll(rest, nil), "<>"); i >= 0 {
		left := tag.ReplaceAll(rest, nil)[i:]
		return string(left[:min(200, len(left))])
	}
	return ""
}

// TestHostileViews: a name is a name in every view that there is, whatever it says.
func TestHostileViews(t *testing.T) {
	harmless := named(t, func(text string) string { return text })
	for name, text := range named(t, func(text string) string { return attack + text }) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name string, text []byte) string {
				path := filepath.Join(dir, name+recording.Ending)
				if err := os.WriteFile(path, text, 0o600); err != nil {
					t.Fatal(err)
				}
				return path
			}
			evil := write("evil", text)
			if f, err := recording.Open(evil); err != nil || len(f.Counted("")) == 0 {
				t.Fatalf("no run counts: %v, %q", err, f.Warnings)
			}
			pages := map[string]int{}
			for _, w := range views(t, write("good", harmless[name])) {
				if bytes.HasPrefix(w.bytes, []byte("<!DOCTYPE html>")) {
					pages[w.view] = len(script.FindAll(w.bytes, -1))
				}
			}
			if len(pages) < 2 {
				t.Errorf("the pages are %v", pages)
			}
			for _, w := range views(t, evil) {
				holdHarmless(t, w)
				if n, is := pages[w.view]; is {
					if !bytes.HasPrefix(w.bytes, []byte("<!DOCTYPE html>")) {
						t.Errorf("%s is no page", w.view)
					}
					if found := smuggled(w.bytes); found != "" {
						t.Errorf("%s has %.200q", w.view, found)
					}
					if got := len(script.FindAll(w.bytes, -1)); got != n {
						t.Errorf("%s has %d scripts, and without the attack %d", w.view, got, n)
					}
				}
			}
		})
	}
}

// holdHarmless holds the texts of a view to what can be seen, and those of CSV to what
// no spreadsheet computes.
func holdHarmless(t *testing.T, w output) {
	t.Helper()
	raw := w.view == "show --as json" || strings.HasSuffix(w.view, "view.json") // its texts are escaped where they stand, and read as they were recorded
	for _, text := range unpack(t, w) {
		if raw {
			text = string(w.bytes)
		}
		if !strings.ContainsRune(text, '\x00') || len(text) < 10_000 { // else it is a binary format, whose bytes are no text
			if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsGraphic(r) }); i >= 0 {
				t.Errorf("%s has %.60q", w.view, text[i:])
				return
			}
		}
		for _, part := range []string{"\x1b", "\u202e", "\u009b", "\u2066", "\nBenchmarkEvil"} {
			if i := strings.Index(text, part+"]0;"); i >= 0 || part[0] >= 0x80 && strings.Contains(text, part) || part[0] == '\n' && strings.Contains(text, part) {
				t.Errorf("%s has %q", w.view, part)
			}
		}
		if raw {
			return
		}
	}
	if !strings.Contains(w.view, "csv") && w.view != "show --as samples" || strings.HasSuffix(w.view, "stderr") {
		return
	}
	formula := func(field string) bool {
		_, err := strconv.ParseFloat(field, 64)
		return err != nil && field != "" && strings.ContainsRune("=+-@\t\r", rune(field[0]))
	}
	var tables []byte
	for line := range bytes.Lines(w.bytes) {
		if !bytes.HasPrefix(line, []byte("#")) {
			tables = append(tables, line...)
			continue
		}
		// A spreadsheet knows no comments: it has cells also of these.
		for _, cell := range strings.FieldsFunc(string(line), func(r rune) bool { return r == ',' || r == ';' || r == '\t' }) {
			if formula(strings.Trim(cell, "\"\n")) {
				t.Errorf("%s has the formula %.60q in a comment", w.view, cell)
			}
		}
	}
	r := csv.NewReader(bytes.NewReader(tables))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Errorf("%s: %v", w.view, err)
	}
	for _, row := range rows {
		for _, field := range row {
			if formula(field) {
				t.Errorf("%s has the formula %.60q", w.view, field)
			}
		}
	}
}

// TestLongNames: a name of a megabyte makes neither a page nor a timeline that nobody
// can open, and every view in time.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("long name ", 100_000)
	all := named(t, func(text string) string { return text })
	for _, name := range []string{"sweep", "engine", "detailed"} {
		text := all[name]
		t.Run(name, func(t *testing.T) {
			// The fifth text of each kind of event, which is the same wherever it stands.
			texts, seen := map[string]bool{}, map[string]int{}
			pick := func(key, text string) string {
				if seen[key]++; seen[key]%5 == 1 && len(texts) < 4 && !codes[key] && text != "" {
					texts[text] = true
				}
				return text
			}
			change := func(_, text string) string {
				if texts[text] {
					return text + " " + long
				}
				return text
			}
			var out []byte
			for _, with := range []func(key, text string) string{pick, change} {
				out = out[:0]
				for line := range bytes.Lines(text) {
					var event map[string]any
					d := json.NewDecoder(bytes.NewReader(line))
					d.UseNumber()
					if err := d.Decode(&event); err != nil {
						t.Fatal(err)
					}
					kind := event["k"]
					line, err := json.Marshal(changeTexts(event, func(key, text string) string {
						if codes[key] || (kind == "span" || kind == "count") && key == "name" {
							return text
						}
						return with(key, text)
					}))
					if err != nil {
						t.Fatal(err)
					}
					out = append(append(out, line...), '\n')
				}
			}
			if len(out) < 1<<20 {
				t.Fatalf("the recording has %d bytes", len(out))
			}
			path := filepath.Join(t.TempDir(), "long"+recording.Ending)
			if err := os.WriteFile(path, out, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, w := range views(t, path) {
				most := map[string]int{"view.html": 1_500_000, "report": 1_500_000, "show --as perfetto": 1_000_000, "view.trace.json": 1_000_000, "view.trace.json.gz": 1_000_000}[w.view]
				if most > 0 && len(w.bytes) > most {
					t.Errorf("%s has %d bytes", w.view, len(w.bytes))
				}
			}
		})
	}
}

// extremes are numbers that a sum, a ratio or a logarithm makes something else of.
var extremes = []json.Number{"0", "-1", "1e308", "-1e308", "5e-324", "9223372036854775807", "-9223372036854775808", "4611686018427387904", "1e999"}

// TestExtremeNumbers: with numbers of the worst kind a line is passed over, a run does
// not count or a figure is odd; no view crashes, hangs or shows what is no number.
func TestExtremeNumbers(t *testing.T) {
	for name, text := range named(t, func(text string) string { return text }) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "numbers"+recording.Ending)
			for i, n := range extremes {
				lines := slices.Collect(bytes.Lines(text))
				for k := range lines {
					// Each third line that holds figures, so that others stand beside.
					if (k+i)%3 == 0 && k > 0 {
						lines[k] = withNumber(t, lines[k], n, k+i)
					}
				}
				if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
					t.Fatal(err)
				}
				for _, w := range views(t, path) {
					if strings.HasSuffix(w.view, "stderr") {
						continue
					}
					for _, text := range unpack(t, w) {
						if found := noNumber.FindString(text); found != "" {
							t.Errorf("with %s %s has %q", n, w.view, found)
							break
						}
					}
				}
			}
		})
	}
}

var noNumber = regexp.MustCompile(`\bNaN\b|[+-]Inf\b|\bInfinity\b|%!`)

// withNumber puts the number in the place of one of a line's.
func withNumber(t *testing.T, line []byte, n json.Number, which int) []byte {
	t.Helper()
	var event map[string]any
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&event); err != nil {
		t.Fatal(err)
	}
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(event)), func(k string) bool {
		_, is := event[k].(json.Number)
		return !is || k == "version"
	})
	if len(keys) == 0 {
		return line
	}
	event[keys[which%len(keys)]] = n
	out, err := json.Marshal(event)
	if err != nil {
		return fmt.Appendf(nil, "%s\n", err)
	}
	return append(out, '\n')
}
