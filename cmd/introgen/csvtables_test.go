package main

import (
	"encoding/csv"
	"math"
	"strconv"
	"strings"
)

// csvTables reads the tables of an answer by their titles' beginning.
func csvTables(t failer, out string) map[string][]map[string]string {
	tables := map[string][]map[string]string{}
	for _, block := range strings.Split(out, "\n\n") {
		title, lines := "", []string{}
		for line := range strings.Lines(block) {
			if strings.HasPrefix(line, "# ") {
				if len(lines) == 0 {
					title, _, _ = strings.Cut(strings.TrimPrefix(line, "# "), " ")
				}
				continue
			}
			lines = append(lines, line)
		}
		all, err := csv.NewReader(strings.NewReader(strings.Join(lines, ""))).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v\n%s", title, err, block)
		}
		for _, row := range all[min(1, len(all)):] {
			m := map[string]string{}
			for i, name := range all[0] {
				m[name] = row[i]
			}
			tables[title] = append(tables[title], m)
		}
	}
	return tables
}

// failer is a *testing.T or a *testscript.TestScript.
type failer interface{ Fatalf(string, ...any) }

// near compares what CSV has, to the nanosecond, with what was computed.
func near(t failer, what, printed string, want float64) {
	got, err := strconv.ParseFloat(printed, 64)
	if err != nil || math.Abs(got-want) > 1e-6+1e-8*math.Abs(want) {
		t.Fatalf("%s: the table has %q, the recording gives %.6f", what, printed, want)
	}
}
