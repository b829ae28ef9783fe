package trim

import (
	"testing"

	"github.com/introgen/introgen/metalshim/msl"
)

// BenchmarkTrim: what trimming costs a start, for each set's libraries together.
func BenchmarkTrim(b *testing.B) {
	for _, set := range sets(b) {
		b.Run(set.String(), func(b *testing.B) {
			keep := map[string][]string{}
			for _, f := range set.Files() {
				l, err := msl.Read(f.Name, f.Text)
				if err != nil {
					b.Fatal(err)
				}
				keep[f.Name] = []string{l.Kernels[0].Name}
			}
			for b.Loop() {
				for _, f := range set.Files() {
					if _, err := Trim(f.Name, f.Text, keep[f.Name]); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
