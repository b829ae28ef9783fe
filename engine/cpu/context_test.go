package cpu_test

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/engine"
	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/transformer/transformertest"
)

// TestContextLimits: whose limit a context is, at, below and above the number of
// positions that an engine reserves memory for when nobody asks for more.
func TestContextLimits(t *testing.T) {
	for _, c := range []struct {
		file, asked, want int
		says              string
	}{
		{64, 0, 64, "the model's file allows no more (llama.context_length 64)"},
		{8191, 0, 8191, "the model's file allows no more (llama.context_length 8191)"},
		{8192, 0, 8192, "the model's file allows no more (llama.context_length 8192)"},
		{8193, 0, 8192, "that is introgen's limit, which reserves memory for no more, and not the model's, whose file allows 8193"},
		{131072, 0, 8192, "that is introgen's limit, which reserves memory for no more, and not the model's, whose file allows 131072"},
		{64, 10, 10, "the engine was made for no more, and the model's file allows 64"},
		{131072, 8192, 8192, "the engine was made for no more, and the model's file allows 131072"}, // as many as without being asked
		{131072, 9000, 9000, "the engine was made for no more, and the model's file allows 131072"},
	} {
		m := model(t, transformertest.Write(t, transformertest.Config{Layers: 1, Heads: 1, KVHeads: 1, HeadDim: 16, Hidden: 16, FFN: 16, Context: c.file}))
		e, err := cpu.New(m, cpu.Options{Threads: 1, Context: c.asked})
		if err != nil {
			t.Fatal(err)
		}
		var limited engine.Bounded = e
		if e.Context() != c.want || limited.ContextLimit() != c.says {
			t.Errorf("a file of %d positions, %d asked for: %d, %s", c.file, c.asked, e.Context(), limited.ContextLimit())
		}
		if _, err := e.Step(make([]int32, c.want+1), 0); err == nil || !strings.HasSuffix(err.Error(), ": "+c.says) {
			t.Errorf("%d tokens: %v", c.want+1, err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The key that an error names is that of the file's architecture.
func TestContextLimitOfOthers(t *testing.T) {
	for _, architecture := range []string{"qwen2", "gemma3"} {
		m := model(t, transformertest.Write(t, transformertest.Config{Architecture: architecture, Bias: architecture == "qwen2", Context: 40}))
		want := "the model's file allows no more (" + architecture + ".context_length 40)"
		if _, err := newEngine(t, m, cpu.Options{}).Step(make([]int32, 41), 0); err == nil || !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("error %v", err)
		}
		if n, whose := cpu.Positions(architecture, 40); n != 40 || whose != want {
			t.Errorf("%d positions, %s", n, whose)
		}
	}
}
