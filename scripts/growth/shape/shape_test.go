package shape

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer"
)

// The makers' counts of parameters say whether the tensors have the right shapes.
func TestShapesHaveTheParametersOfTheirModels(t *testing.T) {
	for _, s := range Shapes {
		var n int64
		for _, x := range s.Tensors(quant.Q8_0) {
			n += x.Values()
		}
		if n != s.Parameters {
			t.Errorf("%s has %d parameters, want %d", s.Name, n, s.Parameters)
		}
	}
}

// The bytes of SmolLM2-135M, by hand: in Q8_0 matrices have 34 bytes for 32 values,
// and 61 norms of 576 values 4 bytes each.
func TestBytes(t *testing.T) {
	s := Shapes[0]
	vectors := int64(61 * 576 * 4)
	matrices := int64(134515008 - 61*576)
	if got, want := s.FileBytes(quant.Q8_0), matrices/32*34+vectors; got != want {
		t.Errorf("Q8_0 has %d bytes, want %d", got, want)
	}
	// Of Q4_K rows of 576 values are Q5_0, of 22 bytes for 32, the embedding Q8_0
	// for Q6_K, and ffn_down's rows of 1536 are Q4_K, of 144 bytes for 256.
	down, embedding := int64(30*576*1536), int64(49152*576)
	want := (matrices-down-embedding)/32*22 + down/256*144 + embedding/32*34 + vectors
	if got := s.FileBytes(quant.Q4_K); got != want {
		t.Errorf("Q4_K has %d bytes, want %d", got, want)
	}
	if got := s.StepBytes(quant.Q4_K); got != want {
		t.Errorf("a step of a tied model reads %d bytes, want all %d", got, want)
	}
	// Of the 8B model a step reads one row of 4096 values of the embedding.
	large := Shapes[len(Shapes)-1]
	if got, want := large.FileBytes(quant.Q8_0)-large.StepBytes(quant.Q8_0), int64(128255*4096/32*34); got != want {
		t.Errorf("a step leaves out %d bytes, want %d", got, want)
	}
	// 30 layers, keys and values of 3 heads of 64.
	if got := s.CacheValues(100); got != 30*2*3*64*100 {
		t.Errorf("100 positions have %d keys and values", got)
	}
	// One token: two operations for each of the matrices' values, and in each layer
	// and head a product with its own key and its own value.
	if got, want := s.PrefillOps(1), float64(2*matrices+4*30*576); got != want {
		t.Errorf("a token is %v operations, want %v", got, want)
	}
}

// Tokens of a prompt meet each other 1 + 2 + 3 times, and the output once.
func TestPrefillOfThreeTokens(t *testing.T) {
	s := Shape{Layers: 1, Hidden: 2, FFN: 5, Heads: 1, KVHeads: 1, HeadDim: 2, Vocab: 7}
	matrices := 4*2*2 + 3*2*5
	if got, want := s.PrefillOps(3), float64(2*3*matrices+4*6*2+2*7*2); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What is written is a model: the reader of models takes it, and its values are drawn
// with the mean 0 and the deviation of a row of length 1.
func TestWrite(t *testing.T) {
	s := Shape{Name: "small", Architecture: "qwen2", Layers: 2, Hidden: 256, FFN: 512, Heads: 4, KVHeads: 2, HeadDim: 64, Vocab: 300, Tied: true, RopeBase: 1e4, Epsilon: 1e-6}
	odd := s
	odd.Architecture, odd.Hidden, odd.Heads, odd.KVHeads, odd.Tied = "llama", 192, 3, 3, false
	for _, typ := range Types {
		for _, s := range []Shape{s, odd} {
			path := filepath.Join(t.TempDir(), "model.gguf")
			size, err := s.Write(path, typ)
			if err != nil {
				t.Fatal(err)
			}
			if st, err := os.Stat(path); err != nil || st.Size() != size || size < s.FileBytes(typ) {
				t.Errorf("the file has not the %d bytes that it should: %v", size, err)
			}
			f, err := gguf.Open(path, gguf.MMap)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			m, err := transformer.Load(f)
			if err != nil {
				t.Fatal(err)
			}
			if m.Layers != s.Layers || m.Hidden != s.Hidden || m.Vocab != s.Vocab {
				t.Errorf("the model is %+v", m.Params)
			}
			for _, w := range []transformer.Matrix{m.Embedding, m.Blocks[0].Q, m.Blocks[1].Down} {
				checkValues(t, w)
			}
		}
	}
}

func checkValues(t *testing.T, w transformer.Matrix) {
	t.Helper()
	values := make([]float32, w.Rows*w.Cols)
	if err := quant.Dequantize(values, w.Type, w.Data[:w.Rows*w.RowBytes]); err != nil {
		t.Fatal(err)
	}
	var sum, squares float64
	for _, v := range values {
		sum, squares = sum+float64(v), squares+float64(v)*float64(v)
	}
	n, want := float64(len(values)), 1/math.Sqrt(float64(w.Cols))
	if mean, deviation := sum/n, math.Sqrt(squares/n); math.Abs(mean) > want/15 || math.Abs(deviation/want-1) > 0.02 {
		t.Errorf("%v: mean %v, deviation %v, want 0 and %v", w.Type, mean, deviation, want)
	}
}

func TestFind(t *testing.T) {
	got, err := Find([]string{"Llama-3.2-1B", "SmolLM2-135M"})
	if err != nil || len(got) != 2 || got[0].Name != "SmolLM2-135M" {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := Find([]string{"GPT-5"}); err == nil || !strings.Contains(err.Error(), "SmolLM2-135M") {
		t.Errorf("error %v", err)
	}
}
