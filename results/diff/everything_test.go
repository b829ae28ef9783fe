package diff

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/table"
)

// compared are two texts in which everything that the format has stands: what
// the second one says is worse by 20 %, in time, rate and count.
func compared() (before, after []string) {
	config := []string{"goos: linux", "goarch: amd64", "cpu: AMD EPYC (2 cores)", "pkg: example.org/p", "model: m.gguf (211 Q8_0)",
		"workload: 13 prompt tokens, 2 decode steps", "model-sha256: aa", "prompt-ids: 0123abcd"}
	lines := func(worse float64) []string {
		var out []string
		for i := range 6 {
			out = append(out, fmt.Sprintf("BenchmarkDecode/step=1-2\t1\t%d ns/op\t%d tok/s", int(1000*worse)+5*i, int(5000/worse)+15*i),
				fmt.Sprintf("BenchmarkCompile\t31\t%d ns/op\t%d misses", int(9000*worse)+50*i, int(30*worse)))
		}
		return out
	}
	head := []string{"# introgen 1: cpu 7", "[cpu round 1] ids: 1 2 3"}
	units := []string{"Unit ns/op better=lower", "Unit tok/s better=higher", "Unit misses better=lower assume=exact"}
	return slices.Concat(head, units, config, lines(1)), slices.Concat(head, config, lines(1.2))
}

// harmless are the alterations that may change nothing, with the reason why.
var harmless = map[string]string{
	"comment":                      "a line that begins with # is for people",
	"line of the console":          "what is no line of the format is ignored, so that a run's whole output can be kept",
	"blank line":                   "it says nothing",
	"iterations":                   "samples weigh alike, whatever their iterations, as with benchstat",
	"value written otherwise":      "the same number",
	"value in another scale":       "the same amount in a unit that benchstat knows",
	"value by a little":            "medians, intervals and ranks: one that keeps its place among the others is as good",
	"model content dropped":        "of a file whose content nobody knows nothing can be said; texts of other programs lack it",
	"prompt's ids dropped":         "recordings of older versions and texts of other programs lack them",
	"unit of package testing":      "what is said of ns/op is known without",
	"space between fields":         "the format has any space there",
	"space behind a line":          "the format has any space there",
	"carriage return":              "the line break of Windows",
	"encoding":                     "the same text",
	"order of lines of one name":   "samples have no order",
	"order of configuration lines": "they hold for all lines behind them",
	"configuration said twice":     "the same again",
	"unit said twice":              "the same again",
}

// alteration is a text with a single field altered.
type alteration struct{ kind, text string }

// alterations are all of a text: for each line each field in each way.
func alterations(lines []string) []alteration {
	var out []alteration
	whole := func(lines []string) string { return strings.Join(lines, "\n") + "\n" }
	with := func(kind string, i int, line ...string) {
		out = append(out, alteration{kind, whole(slices.Replace(slices.Clone(lines), i, i+1, line...))})
	}
	swap := func(kind string, i, j int) {
		swapped := slices.Clone(lines)
		swapped[i], swapped[j] = swapped[j], swapped[i]
		out = append(out, alteration{kind, whole(swapped)})
	}
	lastConfig := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "Benchmark") }) - 1
	for i, line := range lines {
		with("blank line", i, line, "")
		switch {
		case strings.HasPrefix(line, "#"):
			with("comment", i, line+"!")
			with("comment", i)
		case strings.HasPrefix(line, "["):
			with("line of the console", i, line+"!")
			with("line of the console", i)
		case strings.HasPrefix(line, "Unit "):
			f := strings.Fields(line)
			known := func(kind string) string {
				if f[1] == "ns/op" {
					return "unit of package testing"
				}
				return kind
			}
			with(known("unit line dropped"), i)
			with(known("unit line set in"), i, " "+line)
			with("unit said twice", i, line, line)
			with("unit of a unit line", i, strings.Replace(line, f[1], f[1]+"x", 1))
			with("unit of a unit line dropped", i, "Unit")
			with("space between fields", i, strings.ReplaceAll(line, " ", "  "))
			for k, pair := range f[2:] {
				key, value, _ := strings.Cut(pair, "=")
				put := func(kind string, pair ...string) {
					with(kind, i, strings.Join(slices.Replace(slices.Clone(f), 2+k, 3+k, pair...), " "))
				}
				put("key of a unit line", key+"x="+value)
				put("value of a unit line", key+"="+value+"x")
				put("value of a unit line dropped", key+"=")
				put("key without a value", key)
				put(known("pair of a unit line dropped"))
				other := map[string]string{"higher": "lower", "lower": "higher", "exact": "nothing"}[value]
				put("value of a unit line", key+"="+other)
				put("pair of a unit line twice", pair, key+"="+other)
			}
			if f[1] != "misses" {
				with("pair of a unit line more", i, line+" assume=exact")
			}
		case !strings.HasPrefix(line, "Benchmark"):
			key, value, _ := strings.Cut(line, ": ")
			content := func(kind string) string {
				switch key {
				case "model-sha256":
					return "model content dropped"
				case "prompt-ids":
					return "prompt's ids dropped"
				}
				return kind
			}
			with(content("configuration dropped"), i)
			with(content("configuration set in"), i, " "+line)
			with("configuration key", i, key+"x: "+value)
			with(content("configuration key in capitals"), i, strings.ToUpper(key)+": "+value)
			with("configuration value", i, line+"x")
			with(content("configuration value dropped"), i, key+":")
			with(content("configuration colon"), i, key+" "+value)
			with("configuration said twice", i, line, line)
			with("configuration said otherwise", i, line, line+"x")
			with("space between fields", i, key+":  "+value)
			if i < lastConfig {
				swap("order of configuration lines", i, i+1)
				moved := slices.Insert(slices.Delete(slices.Clone(lines), i, i+1), lastConfig+1, line)
				kind := "configuration behind a sample"
				out = append(out, alteration{content(kind), whole(moved)})
			}
		default:
			f := strings.Fields(line)
			put := func(kind string, k int, fields ...string) {
				with(kind, i, strings.Join(slices.Replace(slices.Clone(f), k, k+1, fields...), "\t"))
			}
			with("line dropped", i)
			with("line twice", i, line, line)
			with("line set in", i, " "+line)
			with("space behind a line", i, line+" \t")
			with("space between fields", i, strings.Join(f, "  "))
			with("name without Benchmark", i, strings.TrimPrefix(line, "Benchmark"))
			with("name in small letters", i, strings.ToLower(line[:1])+line[1:])
			with("name", i, strings.Replace(line, "Benchmark", "BenchmarkX", 1))
			with("part of a name", i, strings.Replace(line, f[0], f[0]+"/x=1", 1))
			with("GOMAXPROCS", i, strings.Replace(line, f[0], strings.TrimSuffix(f[0], "-2")+"-16", 1))
			with("line alone with its name", i, f[0])
			put("iterations", 1, "2")
			for _, n := range []string{"0", "-1", "x", "1.5", "99999999999999999999"} {
				put("iterations that are none", 1, n)
			}
			put("iterations dropped", 1)
			for k := 2; k < len(f); k += 2 {
				v, err := strconv.ParseFloat(f[k], 64)
				if err != nil {
					panic(err)
				}
				unit := f[k+1]
				put("value ten times", k, fmt.Sprint(10*v))
				put("value a tenth", k, fmt.Sprint(v/10))
				for _, n := range []string{"0", "NaN", "+Inf", "-" + f[k], "x", f[k] + "x", "1e999"} {
					put("value that is none", k, n)
				}
				put("value written otherwise", k, f[k]+".0")
				put("value written otherwise", k, strconv.FormatFloat(v, 'e', -1, 64))
				little := "value by a little"
				if unit == "misses" {
					little = "count by one"
				}
				put(little, k, fmt.Sprint(v+1))
				put("unit", k+1, unit+"x")
				put("unit dropped", k+1)
				pair := slices.Delete(slices.Clone(f), k, k+2)
				with("value and unit dropped", i, strings.Join(pair, "\t"))
				with("value and unit twice", i, line+"\t"+f[k]+" "+unit)
				if unit == "ns/op" {
					with("value in another scale", i, strings.Replace(line, f[k]+" ns/op", strconv.FormatFloat(v/1e9, 'g', -1, 64)+" sec/op", 1))
					with("value in a scale that is not known", i, strings.Replace(line, f[k]+" ns/op", strconv.FormatFloat(v/1e6, 'g', -1, 64)+" ms/op", 1))
				}
			}
			if i+2 < len(lines) {
				swap("order of lines of one name", i, i+2)
			}
		}
	}
	text := whole(lines)
	return append(out,
		alteration{"carriage return", strings.ReplaceAll(text, "\n", "\r\n")},
		alteration{"line break of old Macs", strings.ReplaceAll(text, "\n", "\r")},
		alteration{"last line break dropped", strings.TrimSuffix(text, "\n")},
		alteration{"encoding", "\xef\xbb\xbf" + text},
		alteration{"encoding that is cut off", inUTF16(text, binary.LittleEndian)[:99]},
		alteration{"encoding", inUTF16(text, binary.LittleEndian)},
		alteration{"everything dropped", ""},
		alteration{"a zero byte", text + "\x00"},
		alteration{"a run that failed", text + "FAIL\n"})
}

// outcome is all that a person, a program and a gate see of a comparison.
func outcome(t *testing.T, before, after string) (seen string, refused bool) {
	t.Helper()
	var sources []Source
	for i, text := range []string{before, after} {
		s, err := Text([]string{"old", "new"}[i], strings.NewReader(text))
		if err != nil {
			return err.Error(), true
		}
		sources = append(sources, s)
	}
	r, err := Judge(sources, Options{})
	if err != nil {
		return err.Error(), true
	}
	notes, err := r.Check(Gate{Above: 0.05, Limit: "5%"})
	return fmt.Sprint(write(t, r, table.Plain), write(t, r, table.CSV), strings.Join(notes, "\n"), err), false
}

// TestEverythingIsRead alters each field of two benchmark texts in turn: what
// comes of the comparison changes, or is refused, or the alteration is one of
// those that are harmless, of which it is known why.
func TestEverythingIsRead(t *testing.T) {
	before, after := compared()
	texts := [2]string{strings.Join(before, "\n") + "\n", strings.Join(after, "\n") + "\n"}
	want, refused := outcome(t, texts[0], texts[1])
	if refused || !strings.Contains(want, "4 became worse by more than 5%") {
		t.Fatalf("unaltered:\n%s", want)
	}
	type tally struct{ tried, changed, harmless, refused int }
	kinds := map[string]*tally{}
	var all tally
	for side, lines := range [][]string{before, after} {
		for _, a := range alterations(lines) {
			altered := texts
			if altered[side] = a.text; a.text == texts[side] {
				t.Fatalf("%s alters nothing", a.kind)
			}
			if kinds[a.kind] == nil {
				kinds[a.kind] = &tally{}
			}
			k := kinds[a.kind]
			k.tried++
			got, refused := outcome(t, altered[0], altered[1])
			switch {
			case refused:
				k.refused++
			case got != want:
				k.changed++
			case harmless[a.kind] != "":
				k.harmless++
			default:
				t.Errorf("%s: nothing changes though %q", a.kind, firstDifference(texts[side], a.text))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		k := kinds[name]
		t.Logf("%-36s %4d tried, %4d changed, %4d harmless, %4d refused  %s", name, k.tried, k.changed, k.harmless, k.refused, harmless[name])
		all = tally{all.tried + k.tried, all.changed + k.changed, all.harmless + k.harmless, all.refused + k.refused}
	}
	t.Logf("%-36s %4d tried, %4d changed, %4d harmless, %4d refused", "all", all.tried, all.changed, all.harmless, all.refused)
	for name := range harmless {
		if kinds[name] == nil || kinds[name].harmless == 0 {
			t.Errorf("%s is called harmless, and no such alteration was", name)
		}
	}
}

// firstDifference is the first line in which two texts differ.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i, line := range y {
		if i >= len(x) || line != x[i] {
			return line
		}
	}
	return "(the end)"
}
