package recording_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/answers/bench"
	"github.com/introgen/introgen/results/answers/bill"
	"github.com/introgen/introgen/results/answers/compare"
	"github.com/introgen/introgen/results/answers/explain"
	"github.com/introgen/introgen/results/answers/idlegap"
	"github.com/introgen/introgen/results/answers/overhead"
	"github.com/introgen/introgen/results/answers/sweep"
	"github.com/introgen/introgen/results/benchtext"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/console"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/view"
)

// A reader of everything: every field of every kind of event is altered, one at
// a time, and each time something must come of it. Either the recording is
// refused, or a warning tells of it, or a view changes; or the field is on this
// list, with the reason why nobody needs to see it. A name is that of the event,
// of a span, a counter or an evidence with its own name, then the field; of an
// element of a list its number is left out.
var harmless = map[string]string{
	"count:metal dispatches.at":       "when it was read, within its span",
	"count:metal encoders.at":         "when it was read, within its span",
	"count:metal command buffers.at":  "when it was read, within its span",
	"span:PIPE.n":                     "how many constants the pipeline has; the event of the pipeline has them all",
	"span:weights.n":                  "bytes of a tensor; the model's file has them",
	"span:weights.detail":             "the tensor's name; weights are one part of a phase together",
	"span:read gguf.detail":           "the way to read, which the subject and the knob io have",
	"span:encode.detail":              "compute or blit: encoders are one part of a phase together",
	"span:queued.start":               "lies beside all else; the device's own time is gpu",
	"span:queued.end":                 "lies beside all else; the device's own time is gpu",
	"span:queued.n":                   "dispatches, as its gpu has them",
	"count:metal buffer bytes.value":  "memory of one buffer: for readers of the file; no figure is made of it",
	"count:metal no-copy bytes.value": "memory of one buffer: for readers of the file; no figure is made of it",
}

// harmlessOfPrograms is the same of recorded programs alone.
var harmlessOfPrograms = map[string]string{
	"count:metal barriers.at": "when it was read, within its span",
	"span:encode.end":         "an encoder may be ended on another thread, in the middle of what its own does; it counts until the next call",
	"span:wait.start":         "while another thread compiles, it is that which the wall clock counts",
	"span:wait.end":           "the same",
	"span:LIB.track":          "which of the tracks beside all threads it has; one of a thread is told apart by what overlaps on it",
}

// views are all that is made of a recording, by name, in the order of what they
// cost.
func views() []struct {
	name string
	of   func(*recording.File, []byte) string
} {
	document := func(d *table.Document, err error) string {
		if err != nil {
			return err.Error()
		}
		var b strings.Builder
		for _, s := range []table.Style{table.CSV, table.Plain} {
			if err := d.Write(&b, s); err != nil {
				return err.Error()
			}
		}
		return b.String()
	}
	written := func(write func(*bytes.Buffer) error) string {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return err.Error()
		}
		return b.String()
	}
	return []struct {
		name string
		of   func(*recording.File, []byte) string
	}{
		{"json", func(f *recording.File, _ []byte) string {
			return written(func(b *bytes.Buffer) error { return view.JSON(b, f) })
		}},
		{"samples", func(f *recording.File, _ []byte) string {
			return written(func(b *bytes.Buffer) error { return view.CSV(b, f) })
		}},
		{"bench", func(f *recording.File, _ []byte) string {
			return written(func(b *bytes.Buffer) error { return benchtext.Write(b, f) })
		}},
		{"table", func(f *recording.File, _ []byte) string {
			return written(func(b *bytes.Buffer) error { return view.Table(b, f) })
		}},
		{"text", func(_ *recording.File, text []byte) string {
			return written(func(b *bytes.Buffer) error {
				p := console.New(b)
				for e, err := range recording.Events(bytes.NewReader(text)) {
					if err == nil {
						err = p.Event(e)
					}
					_ = err // a line that is skipped is told by Read
				}
				return p.Close()
			})
		}},
		{"bill", func(f *recording.File, _ []byte) string {
			bills, err := bill.Of(breakdown.Of(f))
			if err != nil {
				return err.Error()
			}
			return document(bill.Document(bills), nil)
		}},
		{"compare", func(f *recording.File, _ []byte) string {
			a, err := compare.Of(breakdown.Of(f))
			if err != nil {
				return err.Error()
			}
			return document(a.Document(), nil)
		}},
		{"sweep", func(f *recording.File, _ []byte) string {
			a, err := sweep.Of(breakdown.Of(f), metrics.Decode)
			if err != nil {
				return err.Error()
			}
			return document(a.Document(), nil)
		}},
		{"explain", func(f *recording.File, _ []byte) string { return document(explain.Of(breakdown.Of(f)).Document(), nil) }},
		{"arms", func(f *recording.File, _ []byte) string {
			a, err := bench.Of(breakdown.Of(f), bench.Metrics)
			if err != nil {
				return err.Error()
			}
			return document(a.Document(), nil)
		}},
		{"idle-gap", func(f *recording.File, _ []byte) string {
			a, err := idlegap.Of(breakdown.Of(f))
			if err != nil {
				return err.Error()
			}
			return document(a.Document(), nil)
		}},
		{"overhead", func(f *recording.File, _ []byte) string {
			a, err := overhead.Of(breakdown.Of(f))
			if err != nil {
				return err.Error()
			}
			return document(a.Document(), nil)
		}},
	}
}

// field is a place in an event.
type field []any // keys and indices

func (f field) String() string {
	var b strings.Builder
	for _, k := range f {
		if s, ok := k.(string); ok {
			b.WriteString("." + s)
		}
	}
	return b.String()
}

// fields are all places in a value: of a list its first and last element.
func fields(v any, at field) []field {
	var out []field
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if len(at) == 0 && k == "k" {
				continue
			}
			here := append(slices.Clone(at), k)
			out = append(append(out, here), fields(v[k], here)...)
		}
	case []any:
		for _, i := range slices.Compact([]int{0, len(v) - 1}) {
			if i >= 0 && i < len(v) {
				here := append(slices.Clone(at), i)
				if _, nested := v[i].([]any); nested || i > 0 {
					out = append(out, here)
				}
				out = append(out, fields(v[i], here)...)
			}
		}
	}
	return out
}

// with is the value with another at the place; remove takes it away.
func with(v any, at field, other any, remove bool) any {
	if len(at) == 0 {
		return other
	}
	switch v := v.(type) {
	case map[string]any:
		out, key := maps.Clone(v), at[0].(string)
		if remove && len(at) == 1 {
			delete(out, key)
			return out
		}
		out[key] = with(v[key], at[1:], other, remove)
		return out
	case []any:
		out, i := slices.Clone(v), at[0].(int)
		if remove && len(at) == 1 {
			return slices.Delete(out, i, i+1)
		}
		out[i] = with(v[i], at[1:], other, remove)
		return out
	}
	return v
}

func get(v any, at field) any {
	for _, k := range at {
		switch k := k.(type) {
		case string:
			v = v.(map[string]any)[k]
		case int:
			v = v.([]any)[k]
		}
	}
	return v
}

// alterations are other values in the place of one: changed a little, of a wrong
// type, and impossible.
func alterations(v any, name string) map[string]any {
	switch v := v.(type) {
	case json.Number:
		n, err := v.Int64()
		if err != nil {
			x, _ := v.Float64()
			return map[string]any{"changed": x*0.5 + 0.001, "of a wrong type": "x", "impossible": json.Number("1e999")}
		}
		by := int64(1)
		if name == ".start" || name == ".end" || strings.HasSuffix(name, "_ns") || name == ".ns" { // more than a clock's rounding
			by = 50_000
		}
		return map[string]any{"changed": n + by, "of a wrong type": "x", "less than nothing": int64(-7), "beyond all": json.Number("9223372036854775807")}
	case string:
		return map[string]any{"changed": v + "x", "of a wrong type": json.Number("7")}
	case bool:
		return map[string]any{"changed": !v, "of a wrong type": "x"}
	case []any:
		return map[string]any{"empty": []any{}, "of a wrong type": "x", "nested": []any{[]any{}}}
	case map[string]any:
		return map[string]any{"of a wrong type": "x"}
	}
	return map[string]any{"of a wrong type": map[string]any{}}
}

// kindOf tells apart what has the same keys and means another thing.
func kindOf(event map[string]any) string {
	kind := fmt.Sprint(event["k"])
	for _, key := range []string{"name", "what"} {
		if name, ok := event[key].(string); ok && (kind == "span" || kind == "count" || kind == "evidence") {
			return kind + ":" + name
		}
	}
	return kind
}

// sampled are the indices of lines of which all fields are altered: of every
// kind the first and the last, and of those of a plan's own process and of its
// runs each.
func sampled(lines []map[string]any) []int {
	first, last := map[string]int{}, map[string]int{}
	for i, e := range lines {
		k := kindOf(e)
		if _, ok := first[k]; !ok {
			first[k] = i
		}
		last[k] = i
	}
	var out []int
	for k, i := range first {
		out = append(out, i, last[k])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func parse(t *testing.T, text []byte) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range bytes.Lines(text) {
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		var e map[string]any
		if err := d.Decode(&e); err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

func TestReaderOfEverything(t *testing.T) {
	texts := map[string][]byte{}
	for _, name := range []string{"experiment-states", "experiment-sweep"} {
		text, err := os.ReadFile(filepath.Join("..", "recorded", name+recording.Ending))
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = text
	}
	maps.Copy(texts, madeRecordings(t))
	parent, child := programtest.Child()
	texts["program-marked"], texts["program-unmarked"] = programtest.Bytes(programtest.Marked(programtest.Cold)), programtest.Bytes(programtest.Unmarked(programtest.Warm))
	texts["program-threads"], texts["program-child"] = programtest.Bytes(programtest.Detailed()), programtest.Bytes(parent, child)
	total := map[string]int{}
	tried := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		t.Run(name, func(t *testing.T) { everything(t, name, texts[name], total, tried) })
	}
	t.Logf("%d fields of %d alterations: a view changed %d, told %d, refused %d, harmless by list %d; none of another kind: %v",
		fieldsOf(tried), total["changed"]+total["told"]+total["refused"]+total["harmless"], total["changed"], total["told"], total["refused"], total["harmless"], total["unseen"] == 0)
	for name := range harmlessOfPrograms {
		if !tried["harmless "+name] {
			t.Errorf("%q is on the list of what is harmless of programs, and no recording of one has it or all see it", name)
		}
	}
	for name := range harmless {
		if !tried["harmless "+name] {
			t.Errorf("%q is on the list of what is harmless, and no recording has it or all see it", name)
		}
	}
}

// fieldsOf is how many names are those of fields.
func fieldsOf(tried map[string]bool) int {
	n := 0
	for name := range tried {
		if !strings.HasPrefix(name, "harmless ") {
			n++
		}
	}
	return n
}

func everything(t *testing.T, name string, text []byte, total map[string]int, tried map[string]bool) {
	all := views()
	whole, err := recording.Read(bytes.NewReader(text), "x")
	if err != nil || whole.Broken != "" || len(whole.Warnings) > 0 {
		t.Fatalf("%v, %q, %q", err, whole.Broken, whole.Warnings)
	}
	before := make([]string, len(all))
	for i, v := range all {
		before[i] = v.of(whole, text)
	}
	lines := parse(t, text)
	split := slices.Collect(bytes.Lines(text))
	for _, i := range sampled(lines) {
		kind := kindOf(lines[i])
		if name == "plan" && (strings.HasPrefix(kind, "span") || strings.HasPrefix(kind, "count")) {
			continue // they are those of the recordings of one run, which are altered there
		}
		for _, at := range append(fields(lines[i], nil), field{"k"}) {
			place := kind + at.String()
			tried[place] = true
			was := get(lines[i], at)
			others := alterations(was, at.String())
			others["removed"] = nil
			for _, how := range slices.Sorted(maps.Keys(others)) {
				if how == "removed" && kind == "header" && empty(was) || how == "empty" && empty(was) {
					continue // in a header nothing is what an empty value says
				}
				line, err := json.Marshal(with(lines[i], at, others[how], how == "removed"))
				if err != nil {
					t.Fatal(err)
				}
				altered := bytes.Join(append(append(slices.Clone(split[:i]), append(line, '\n')), split[i+1:]...), nil)
				outcome := effect(all, before, altered)
				if outcome == "unseen" && (harmless[place] != "" || strings.HasPrefix(name, "program") && harmlessOfPrograms[place] != "") {
					outcome = "harmless"
					tried["harmless "+place] = true
				}
				total[outcome]++
				if outcome == "unseen" {
					t.Errorf("line %d: %s %s: nothing comes of it: %.200s", i+1, place, how, line)
				}
			}
		}
	}
}

// effect is what comes of an altered recording.
func effect(all []struct {
	name string
	of   func(*recording.File, []byte) string
}, before []string, altered []byte) string {
	f, err := recording.Read(bytes.NewReader(altered), "x")
	switch {
	case err != nil:
		return "refused"
	case len(f.Warnings) > 0 || f.Broken != "":
		return "told"
	}
	for i, v := range all {
		if v.of(f, altered) != before[i] {
			return "changed"
		}
	}
	return "unseen"
}

func empty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return !slices.ContainsFunc(slices.Collect(maps.Values(v)), func(v any) bool { return !empty(v) })
	case []any:
		return len(v) == 0
	case json.Number:
		return v == "0"
	}
	return v == "" || v == nil || v == false || v == "0001-01-01T00:00:00Z"
}

// number is for the names of many runs.
func number(n int) string { return strconv.Itoa(n) }
