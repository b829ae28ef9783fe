package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/introgen/introgen/system/terminal"
	"github.com/introgen/introgen/trace"
)

// TestStatusGivesWay: neither output nor a note is written behind the line that
// says how far a run is.
func TestStatusGivesWay(t *testing.T) {
	var out bytes.Buffer
	status := terminal.NewLine(&out, 0)
	s := newSession(trace.New(), []string{"introgen"}, status.Before(&out))
	status.Set("round %d", 1)
	s.note("no space")
	time.Sleep(terminal.Every)
	status.Set("round 2")
	if _, err := status.Before(&out).Write([]byte("out\n")); err != nil {
		t.Fatal(err)
	}
	status.Clear()
	want := "\rround 1\r       \rintrogen: note: no space\n" + "\rround 2\r       \rout\n"
	if out.String() != want {
		t.Errorf("the terminal gets %q, want %q", &out, want)
	}
	var none *terminal.Line
	none.Set("x")
	none.Clear()
}
