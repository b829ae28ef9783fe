package page

import (
	"bytes"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
)

// TestRoomOfDownloads: downloads take no more bytes of a page than there is room for,
// as they stand in it: a + of base64 is five characters there.
func TestRoomOfDownloads(t *testing.T) {
	size := func(blocks []block) int {
		t.Helper()
		p := newPage([]subject{{name: "x", file: breakdown.Of(&recording.File{})}}, Options{})
		p.Sections[len(p.Sections)-1].Panels = p.panels(func(subject) []block { return blocks })
		var b bytes.Buffer
		if err := p.render(&b); err != nil {
			t.Fatal(err)
		}
		return b.Len()
	}
	all := []raw{{download: download{Text: "samples", Name: "x.csv", Type: "text/csv"}, as: "csv", size: 1 << 20, packed: strings.Repeat("a+++", 5000)}}
	without := size(files(all, 0))
	for room := 19_000; room < 120_000; room += 500 {
		if more := size(files(all, room)) - without; more > room {
			t.Fatalf("with room for %d bytes there are %d more", room, more)
		}
	}
	if size(files(all, 120_000))-without < 50_000 {
		t.Error("what has room is left out")
	}
}
