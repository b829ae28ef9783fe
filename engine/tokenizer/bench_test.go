package tokenizer

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
)

const prompt = "<|im_start|>user\nWhat is Rust?<|im_end|>\n<|im_start|>assistant\n"

// benchText is 64 KiB or so of prose and code.
var benchText = strings.Repeat(prompt+strings.Join(words1, " ")+"\n"+strings.Join(code, "\n"), 45)

func BenchmarkLoad(b *testing.B) {
	f, err := gguf.Open(modeltest.Path(b, models.StandIn), gguf.MMap)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(f, "go"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodePrompt(b *testing.B) { benchEncode(b, prompt) }

func BenchmarkEncodeText(b *testing.B) { benchEncode(b, benchText) }

func BenchmarkEncodeOneWord(b *testing.B) { benchEncode(b, strings.Repeat("abcdefgh", 1<<17)) }

func benchEncode(b *testing.B, text string) {
	k := realEncoder(b, "smollm")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := k.Encode(text); err != nil {
			b.Fatal(err)
		}
	}
}
