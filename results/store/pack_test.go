package store

import (
	"os"
	"testing"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
)

// TestPacked: a large recording is packed to less than a third, reads the same,
// also cut off, and a small one stays a text.
func TestPacked(t *testing.T) {
	state := t.TempDir()
	recorded := func(spans int) string {
		w, path, err := Create(state, "sweep")
		if err != nil {
			t.Fatal(err)
		}
		events := []recording.Event{&recording.Header{Format: recording.Format, Version: recording.Version, Command: "cpu"}}
		for i := range spans {
			events = append(events, &recording.Span{Record: trace.Record{ID: trace.ID(i + 1), Name: "commit", Start: 7919 * 1000, End: 7919*1000 + 5}})
		}
		for _, e := range events {
			if err := w.Put(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const spans = 20000
	large, small := recorded(spans), recorded(1)
	plain, err := os.ReadFile(large)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{large, small} {
		if err := Pack(path); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(small); err != nil || text[0] != '{' {
		t.Errorf("a small recording is no text: %.20q, %v", text, err)
	}
	packed, err := os.ReadFile(large)
	if err != nil || len(packed) > len(plain)/3 {
		t.Fatalf("%d bytes of %d, %v", len(packed), len(plain), err)
	}
	f, err := recording.Open(large)
	if err != nil || f.Broken != "" || len(f.Runs) != 1 || len(f.Runs[0].Spans) != spans {
		t.Fatalf("a packed recording reads as %+v, %v", f, err)
	}
	if err := os.WriteFile(large, packed[:len(packed)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	if f, err = recording.Open(large); err != nil || f.Broken == "" || len(f.Runs[0].Spans) == 0 {
		t.Errorf("half of a packed recording reads as %+v, %v", f, err)
	}
	// What was killed in the middle is taken away, and is no recording.
	if err := os.WriteFile(large+packing, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Pack(large); err == nil && len(packed)/2 >= packFrom {
		t.Error("two packed the same")
	}
	recorded(1)
	if err := Tidy(state); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(large + packing); err == nil {
		t.Error("an unfinished file stays")
	}
}
