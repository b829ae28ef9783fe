package timeline_test

import (
	"bytes"
	"testing"

	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/timeline"
	"github.com/introgen/introgen/results/timeline/timelinetest"
)

// TestTraceProcessor has Perfetto's own trace processor read timelines: it counts no
// error, and every kind of slice takes as long as was recorded, to the nanosecond.
func TestTraceProcessor(t *testing.T) {
	parent, child := programtest.Child()
	for name, f := range map[string]*recording.File{
		"experiment": experiment(t), "metal": metal(2, 3, 5), "threads": programtest.File(programtest.Threads()), "child": programtest.File(parent, child),
		"steps": programtest.File(programtest.Steps(20, 4, false)),
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := timeline.View(&b, f); err != nil {
				t.Fatal(err)
			}
			own, err := timelinetest.Read(bytes.NewReader(b.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			got := timelinetest.Query(t, b.Bytes(),
				"select name, value from stats where severity != 'info' and value != 0",
				"select category as kind, sum(dur) as took, count(*) as n from slice group by category",
				"select count(*) as n from flow",
				"select distinct thread.name as name from slice join thread_track on track_id = thread_track.id join thread using (utid) where thread.name is not null",
				"select count(*) as n from (select distinct track_id from counter)")
			for _, row := range got[0] {
				t.Errorf("%v is counted %v times", row["name"], row["value"])
			}
			took, of := map[string]float64{}, map[string]float64{}
			for _, row := range got[1] {
				took[row["kind"].(string)], of[row["kind"].(string)] = row["took"].(float64), row["n"].(float64)
			}
			for name, want := range spent(f) {
				if took[name] != float64(want) {
					t.Errorf("%q takes %v ns by the trace processor, and %d were recorded", name, took[name], want)
				}
			}
			n := 0.0
			for _, k := range of {
				n += k
			}
			if n != float64(len(own.Slices)) || got[2][0]["n"] != float64(len(own.Arrows)) || got[4][0]["n"] != float64(len(own.Counters)) {
				t.Errorf("the trace processor has %v slices, %v arrows and %v counters, package timelinetest %d, %d and %d", n, got[2][0]["n"], got[4][0]["n"], len(own.Slices), len(own.Arrows), len(own.Counters))
			}
			names := map[string]bool{}
			for _, row := range got[3] {
				names[row["name"].(string)] = true
			}
			for _, s := range own.Slices {
				if s.Async == "" && !names[own.Names[s.Track]] {
					t.Errorf("the track %q has no slice by the trace processor, whose are %v", own.Names[s.Track], names)
					break
				}
			}
		})
	}
}
