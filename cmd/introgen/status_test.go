package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/introgen/introgen/trace"
)

// TestStatusGivesWay: neither output nor a note is written behind the line that
// says how far a run is.
func TestStatusGivesWay(t *testing.T) {
	var terminal bytes.Buffer
	st := &status{w: &terminal, began: time.Now().Add(-time.Minute)}
	s := newSession(trace.New(), []string{"introgen"}, &clearing{st, &terminal})
	st.set("round %d", 1)
	s.note("no space")
	st.last = time.Time{}
	st.set("round 2")
	if _, err := (&clearing{st, &terminal}).Write([]byte("out\n")); err != nil {
		t.Fatal(err)
	}
	st.clear()
	want := "\rround 1\r       \rintrogen: note: no space\n" + "\rround 2\r       \rout\n"
	if terminal.String() != want {
		t.Errorf("the terminal gets %q, want %q", &terminal, want)
	}
	var none *status
	none.set("x")
	none.clear()
}
