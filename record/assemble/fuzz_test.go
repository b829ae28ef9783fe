package assemble

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim/recorder"
	"github.com/introgen/introgen/results/recording"
)

// FuzzEvents feeds events of any kind and order, as a program or a damaged ring may
// give them: a recording comes out that can be read.
func FuzzEvents(f *testing.F) {
	script := func(events ...[6]byte) []byte {
		var b []byte
		for _, e := range events {
			b = append(b, e[:]...)
		}
		return b
	}
	// Kind, object, a, b, thread, time: a run, and one whose parts are out of order.
	f.Add(script([6]byte{2, 1}, [6]byte{3, 1, 1, 1, 0, 1}, [6]byte{4, 1, 2, 1, 0, 9}, [6]byte{6, 3, 2, 0, 0, 1}, [6]byte{7, 2, 3, 1, 0, 1}, [6]byte{8, 2, 4, 0, 0, 5},
		[6]byte{14, 5, 1, 0, 0, 1}, [6]byte{19, 6, 5, 1, 0, 1}, [6]byte{21, 6, 4, 0, 0, 1}, [6]byte{22, 6, 1, 1, 0, 1}, [6]byte{20, 6, 0, 0, 0, 1}, [6]byte{16, 5, 1, 0, 0, 1},
		[6]byte{27, 5, 1, 0, 0, 1}, [6]byte{18, 5, 1, 2, 0, 1}, [6]byte{28, 5, 1, 0, 0, 1}))
	f.Add(script([6]byte{20, 6}, [6]byte{28, 5, 1}, [6]byte{31, 0, 0, 0, 0, 1}, [6]byte{40, 200}, [6]byte{4, 1, 2}, [6]byte{8, 2, 4}, [6]byte{19, 6, 5, 1, 1, 1}, [6]byte{19, 7, 5, 1, 1, 1}, [6]byte{20, 6, 0, 0, 2, 1}))
	f.Fuzz(func(t *testing.T, all []byte) {
		for _, marked := range []bool{false, true} {
			var text []byte
			b := all
			p := New(Options{
				Header: recording.Header{Format: recording.Format, Version: recording.Version, Clock: 1000, Program: &recording.Program{Path: "p"}}, Driver: "soft", Marked: marked, Dispatches: true,
				Put: func(e recording.Event) {
					var err error
					if text, err = recording.Encode(text, e); err != nil {
						t.Fatal(err)
					}
				},
			})
			at := int64(1000)
			for ; len(b) >= 6; b = b[6:] {
				at += int64(b[5]) * 300_000
				kind := recorder.Kind(b[0] % 34)
				switch {
				case kind == 0:
					p.Output(recording.StreamOut, at-int64(b[1])*1000, int(b[2]))
				case kind == 33:
					p.Marks([]string{string(rune('a' + b[1]%4))}, at-int64(b[2])*1000)
				default:
					p.Event(recorder.Event{Time: at - int64(b[4]/8)*1000, Thread: uint32(b[4] % 8), Kind: kind, Object: uint64(b[1]), A: uint64(b[2]), B: uint64(b[3]), C: uint64(b[1]), D: uint64(b[3]), Text: "text\x1b"})
				}
			}
			p.End(Ending{At: at, Code: len(b)})
			file, err := recording.Read(strings.NewReader(string(text)), "")
			if err != nil || len(file.Runs) != 1 || file.Runs[0].End == nil {
				t.Fatalf("%v in\n%s", err, text)
			}
		}
	})
}
