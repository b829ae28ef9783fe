package taint

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

const ms = time.Millisecond

func step(parent trace.ID, n int64, start, end time.Duration) trace.Record {
	return trace.Record{Parent: parent, Name: names.SpanStep, N: n, Start: start, End: end}
}

func TestTaints(t *testing.T) {
	calm := recording.Machine{OtherCores: 0.05, MHz: 2600, Throttled: 4}
	unknown := recording.Machine{OtherCores: -1, MHz: -1, Throttled: -1}
	for _, c := range []struct {
		name string
		e    Ended
		want []string
	}{
		{"a calm machine", Ended{Before: calm, After: calm, MHz: []float64{2590, 2610, 2600}}, nil},
		{"a machine that tells nothing", Ended{Before: unknown, After: unknown}, nil},
		{"a busy one", Ended{Before: calm, After: recording.Machine{OtherCores: 0.93, MHz: 2600, Throttled: 4}, Cores: 2},
			[]string{"load: other processes kept 0.930 of 2 cores busy"}},
		{"a busy one beside a program whose device is a process of its own", Ended{Before: calm, After: recording.Machine{OtherCores: 1.27, MHz: 2600, Throttled: 4}, Cores: 2,
			Run: &recording.Run{Header: recording.Header{Program: &recording.Program{}}, Device: &recording.Device{Driver: "soft"}}}, nil},
		{"a busy one beside a program on Apple's GPU", Ended{Before: calm, After: recording.Machine{OtherCores: 1.27, MHz: 2600, Throttled: 4}, Cores: 2,
			Run: &recording.Run{Header: recording.Header{Program: &recording.Program{}}, Device: &recording.Device{Driver: "apple"}}},
			[]string{"load: other processes kept 1.27 of 2 cores busy"}},
		{"a slower clock", Ended{Before: calm, After: recording.Machine{MHz: 1800, Throttled: 4}, MHz: []float64{2600, 2500, 2600}},
			[]string{"frequency: 1800 MHz after it, 2600 MHz after the runs before"}},
		{"a slower clock after too few runs", Ended{Before: calm, After: recording.Machine{MHz: 1800, Throttled: 4}, MHz: []float64{2600, 2600}}, nil},
		{"heat", Ended{Before: calm, After: recording.Machine{MHz: 2600, Throttled: 9}}, []string{"throttled: 5 times for heat"}},
		{"heat that was not counted before", Ended{Before: unknown, After: recording.Machine{Throttled: 9}}, nil},
		{"idle between steps", Ended{Run: &recording.Run{Spans: []trace.Record{
			{ID: 2, Parent: 1, Name: names.SpanPrefill, N: 13, Start: 0, End: 5 * ms},
			step(1, 1, 5*ms, 10*ms), step(1, 2, 260*ms, 265*ms), step(1, 3, 266*ms, 270*ms)}}},
			[]string{"idle: 250 ms between passes, before decode step 2"}},
		{"rounds apart", Ended{Run: &recording.Run{Spans: []trace.Record{step(1, 1, 5*ms, 10*ms), step(2, 1, 500*ms, 510*ms)}}}, nil},
		{"a pause that was asked for", Ended{Run: &recording.Run{Spans: []trace.Record{step(1, 1, 5*ms, 10*ms),
			{Parent: 1, Name: names.SpanPause, N: int64(490 * ms), Start: 10 * ms, End: 500 * ms}, step(1, 2, 500*ms, 510*ms)}}}, nil},
		{"a model that is not in memory", Ended{Run: &recording.Run{Evidence: []recording.Evidence{
			{What: recording.EvidencePageCache, Round: 1, Resident: 0.4}}}}, []string{"file: 40.0 % of the model lay in memory before round 1"}},
		{"one that was evicted", Ended{Run: &recording.Run{Evidence: []recording.Evidence{
			{What: recording.EvidencePageCache, Round: 1, Resident: 0, Evicted: true},
			{What: recording.EvidencePageCache, Round: 2, Resident: -1}, {What: recording.EvidenceMetalCache}}}}, nil},
	} {
		if c.e.Run == nil {
			c.e.Run = &recording.Run{}
		}
		var got []string
		for _, taint := range Of(c.e) {
			if got = append(got, taint.String()); taint.Value <= 0 {
				t.Errorf("%s: %+v says nothing of how much", c.name, taint)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, strings.Join(got, "; "), strings.Join(c.want, "; "))
		}
	}
}
