package record

import (
	"testing"

	"github.com/introgen/introgen/results/recording"
)

// TestStore: events come back as they were put, few and many. Of a child with more than
// ten thousand the rest was lost, and of a program without Metal.
func TestStore(t *testing.T) {
	for _, many := range []int{0, 1, mostFew - 1, mostFew, mostFew + 1, 3 * mostFew} {
		s := &store{}
		s.put(&recording.Header{Format: recording.Format, Version: recording.Version, Command: "record", Args: []string{}, Knobs: []recording.Knob{}})
		for i := range many {
			s.put(&recording.Output{At: int64(i), Stream: recording.StreamOut, Bytes: 1})
		}
		var got []recording.Event
		if err := s.give(func(e recording.Event) { got = append(got, e) }); err != nil {
			t.Errorf("%d: %v", many, err)
		}
		if err := s.close(); err != nil {
			t.Errorf("%d: %v", many, err)
		}
		if len(got) != many+1 {
			t.Errorf("%d events came back of a header and %d", len(got), many)
			continue
		}
		for i, e := range got[1:] {
			if o, ok := e.(*recording.Output); !ok || o.At != int64(i) {
				t.Fatalf("%d: event %d is %+v", many, i, e)
			}
		}
	}
}
