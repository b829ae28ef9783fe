package timeline_test

import (
	"bytes"
	"testing"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/timeline"
)

// TestThinsAlike: of slices that are alike, as those of the same run twice are, the same
// ones are left out each time.
func TestThinsAlike(t *testing.T) {
	var first []byte
	for range 10 {
		var all []*recording.File
		for range 4 {
			all = append(all, metal(2, 10, 5))
		}
		l := timeline.Of(all...)
		var whole, b bytes.Buffer
		if err := l.Write(&whole); err != nil {
			t.Fatal(err)
		}
		if l.Thin(whole.Len() * 3 / 4); len(l.LeftOut) == 0 {
			t.Fatal("nothing is left out")
		}
		if err := l.Write(&b); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b.Bytes()
		}
		if !bytes.Equal(first, b.Bytes()) {
			t.Fatal("the same recordings make other timelines")
		}
	}
}
