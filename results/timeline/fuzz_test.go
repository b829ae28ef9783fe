package timeline_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/timeline"
)

// FuzzRecording: whatever file is read as a recording, a viewer takes its timeline
// without a complaint.
func FuzzRecording(f *testing.F) {
	b, err := os.ReadFile(filepath.Join("..", "recorded", "experiment-states.introgen"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b[:20_000])
	f.Add(programtest.Bytes(programtest.Detailed()))
	f.Add(programtest.Bytes(programtest.Across()))
	f.Add([]byte(`{"k":"header","format":"introgen recording","version":1,"command":"metal"}` + "\n" +
		`{"k":"span","id":1,"in":0,"name":"decode step","n":1,"start":0,"end":900}` + "\n" +
		`{"k":"span","id":2,"in":1,"name":"commit","n":1,"start":10,"end":20}` + "\n" +
		`{"k":"span","id":3,"in":1,"name":"gpu","n":1,"start":15,"end":90}` + "\n" +
		`{"k":"operation","id":1,"layer":0,"name":"a","kernel":"k","read_bytes":1,"written_bytes":1,"operations":1}` + "\n" +
		`{"k":"executed","span":3,"operations":[1],"start_ns":[16],"ns":[70]}` + "\n" +
		`{"k":"machine","at_ns":5,"load":1,"other_cores":1,"mhz":1,"throttled":-1}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if file, err := recording.Read(bytes.NewReader(b), "x"); err == nil {
			written(t, timeline.Of(file))
		}
	})
}
