package msl

import (
	"testing"

	"github.com/introgen/introgen/engine/metal/kernels"
)

// BenchmarkRead preprocesses a library of the project's own kernels and reads its declarations; bytes are those
// of the source.
func BenchmarkRead(b *testing.B) {
	for _, f := range kernels.OwnSet().Files() {
		b.Run(f.Library, func(b *testing.B) {
			b.SetBytes(int64(len(f.Text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(f.Name, f.Text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRewrite makes C++ of a library; bytes are those of the preprocessed
// text.
func BenchmarkRewrite(b *testing.B) {
	for _, f := range kernels.OwnSet().Files() {
		p, err := preprocess(f.Text)
		if err != nil {
			b.Fatal(err)
		}
		text := written(p.out)
		b.Run(f.Library, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Rewrite(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
