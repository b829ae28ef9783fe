package transformertest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer/transformertest"
)

// The tensors of a case are those from which the figures were computed, to the bit.
func TestCasesAreThoseOfTheFigures(t *testing.T) {
	of := map[string]int{}
	for _, c := range transformertest.Cases() {
		of[c.Family()]++
		h := sha256.New()
		for _, x := range c.Writable(t).Tensors {
			h.Write(append([]byte(x.Name+"\n"), x.Data...))
			if x.Type != quant.F32 {
				t.Errorf("%s: tensor %s has type %v", c.Name, x.Name, x.Type)
			}
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != c.SHA256 {
			t.Errorf("%s: tensors hash to %s, those of the figures to %s", c.Name, got, c.SHA256)
		}
		if len(c.Next) < 12 || len(c.Prompt) < 20 || len(c.Prompt) > 40 || c.Vocab() < 96 || !(c.Margin > 0) {
			t.Errorf("%s: %d tokens of a prompt, %d that follow, %d logits, margin %v", c.Name, len(c.Prompt), len(c.Next), c.Vocab(), c.Margin)
		}
	}
	for _, family := range []string{"llama", "mistral", "qwen2", "qwen3", "gemma3", "phi3"} {
		if of[family] != 8 {
			t.Errorf("%d cases of %s, want 8", of[family], family)
		}
	}
}
