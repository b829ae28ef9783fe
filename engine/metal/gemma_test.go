package metal

import (
	"context"
	"os"
	"testing"

	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/engine/metal/metaltest"
	"github.com/introgen/introgen/engine/transformer/transformertest"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
)

// gemmaEnv has TestGemma follow all tokens, where it is "full": on the software driver
// that takes minutes, and longer with candle's kernels.
const gemmaEnv = "INTROGEN_GEMMA"

// TestGemma: the tokens after each of five prompts are llama.cpp's, with a second real
// model, of another architecture and of five types of weights, on the project's kernels
// and on candle's. They are the first few where gemmaEnv does not ask for all.
func TestGemma(t *testing.T) {
	path := modeltest.Path(t, models.Gemma)
	for name, folder := range map[string]func(testing.TB) string{
		"own":    func(testing.TB) string { return kernels.Own },
		"candle": metaltest.Candle,
	} {
		t.Run(name, func(t *testing.T) {
			set, err := kernels.Open(folder(t))
			if err != nil {
				t.Fatal(err)
			}
			dev := metaltest.Device(t)
			metaltest.Models(t, dev)
			d, err := NewDevice(context.Background(), dev, Options{CommandsPerBuffer: 50, Kernels: set, Positions: 128})
			if err != nil {
				t.Fatal(err)
			}
			e := build(t, d, load(t, path))
			for _, c := range transformertest.Gemma(t) {
				if os.Getenv(gemmaEnv) != "full" {
					c.Steps = c.Steps[:6]
				}
				c.Follow(t, func(ids []int32, pos int) int32 {
					next, err := e.Step(ids, pos)
					if err != nil {
						t.Fatal(err)
					}
					return next
				})
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			noneLive(t, dev)
		})
	}
}
