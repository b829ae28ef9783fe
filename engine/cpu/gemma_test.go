//go:build unix

package cpu_test

import (
	"testing"

	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
)

// TestGemma: 60 tokens after each of five prompts are llama.cpp's, with a second real
// model, of another architecture and of five types of weights.
func TestGemma(t *testing.T) {
	f, err := gguf.Open(modeltest.Path(t, models.Gemma), gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := transformer.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	e, err := cpu.New(m, cpu.Options{Context: 128})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, c := range transformertest.Gemma(t) {
		c.Follow(t, func(ids []int32, pos int) int32 {
			next, err := e.Step(ids, pos)
			if err != nil {
				t.Fatal(err)
			}
			return next
		})
	}
}
