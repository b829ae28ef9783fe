package forward

import (
	"fmt"
	"math"
	"slices"
)

// MaxPositions is the length of candle's rotary tables (MAX_SEQ_LEN in
// candle-transformers/src/models/quantized_llama.rs), whatever the model file
// says. Position MaxPositions and above cannot be computed.
const MaxPositions = 4096

// twoPassKeys is the number of keys from which attention of one token runs in
// two passes (TWO_PASS_K_THRESHOLD in candle-nn/src/ops.rs).
const twoPassKeys = 1024

// TwoPassBlocks is over how many blocks of keys it then does (SDPA_2PASS_BLOCKS in
// candle-metal-kernels/src/kernels/sdpa.rs).
const TwoPassBlocks = 32

// headDims are the head dimensions that candle's attention of one token takes
// (call_sdpa_vector in candle-metal-kernels/src/kernels/sdpa.rs). The Sdpa
// library has kernels for 72 and 80 too, and the host refuses to launch them.
var headDims = []int{32, 64, 96, 128, 256, 512}

// Config is what the plan needs to know of a model.
type Config struct {
	Layers, Heads, KVHeads, HeadDim int
	Hidden, FFN, Vocab              int
	Context                         int // positions that the model's file allows
	RMSEps                          float32
	RopeBase                        float32
	RopeDim                         int
	// OwnOutput says that the model has an output.weight of its own.
	OwnOutput bool
	// Format is the format of a tensor, by its name in the model file.
	Format func(tensor string) (Format, error)
	// Architecture is the device's, such as "applegpu_g13g"; "" if it has
	// none. It chooses tiles of the Gemm kernels.
	Architecture string
}

// Weight is a tensor of the model: Rows × Cols elements.
type Weight struct {
	Name       string
	Rows, Cols int
	Format     Format
}

func (w Weight) bytes() int { return w.Rows * (w.Cols / w.Format.Elems) * w.Format.Bytes }

// check says what of c candle's plan cannot do. What no model file can say is an
// error of the caller; the rest is an *UnsupportedError.
func (c *Config) check() error {
	for _, f := range []struct {
		name string
		v    int
	}{
		{"layers", c.Layers}, {"heads", c.Heads}, {"key/value heads", c.KVHeads}, {"head dimension", c.HeadDim},
		{"hidden size", c.Hidden}, {"feed-forward size", c.FFN}, {"vocabulary", c.Vocab}, {"context", c.Context},
	} {
		if f.v < 1 || f.v > math.MaxInt32 {
			return fmt.Errorf("metal plan: %s is %d; it must be at least 1 and fit in 31 bits", f.name, f.v)
		}
	}
	switch {
	case c.Heads%c.KVHeads != 0:
		return fmt.Errorf("metal plan: %d heads cannot share %d key/value heads evenly", c.Heads, c.KVHeads)
	case c.Heads*c.HeadDim != c.Hidden:
		return Unsupported("%d heads of dimension %d make %d, but the hidden size is %d; candle's attention needs them equal", c.Heads, c.HeadDim, c.Heads*c.HeadDim, c.Hidden)
	case c.RopeDim != c.HeadDim:
		return Unsupported("rotary dimension %d differs from the head dimension %d; candle's rope kernel turns whole heads", c.RopeDim, c.HeadDim)
	case !slices.Contains(headDims, c.HeadDim):
		return Unsupported("no attention kernel for head dimension %d; candle launches kernels for %v", c.HeadDim, headDims)
	case c.FFN == 1:
		return Unsupported("a feed-forward size of 1, for which candle launches other kernels than for all larger ones")
	case c.Vocab == 1:
		return Unsupported("a vocabulary of 1, for which candle launches other kernels than for all larger ones")
	case c.Format == nil:
		return fmt.Errorf("metal plan: Config.Format is not set")
	}
	return nil
}

// theta is the rotary frequency of each pair, computed in float32 as candle
// does (precomput_freqs_cis in quantized_llama.rs).
func (c *Config) theta() []float32 {
	t := make([]float32, c.RopeDim/2)
	for i := range t {
		exponent := float32(2*i) / float32(c.RopeDim)
		t[i] = 1 / float32(math.Pow(float64(c.RopeBase), float64(exponent)))
	}
	return t
}

// weights are the matrices and norms of a model.
type weights struct {
	embedding, outputNorm, output Weight
	layers                        []layerWeights
}

type layerWeights struct {
	q, k, v, o, gate, down, up, attnNorm, ffnNorm Weight
}

// resolve finds the format of each tensor and checks that there are kernels
// for its shape.
func (c *Config) resolve() (*weights, error) {
	var err error
	get := func(name string, rows, cols int) Weight {
		w := Weight{Name: name, Rows: rows, Cols: cols}
		if err != nil {
			return w
		}
		if w.Format, err = c.Format(name); err != nil {
			err = Unsupported("tensor %s: %v", name, err)
		} else if cols%w.Format.Elems != 0 {
			err = fmt.Errorf("tensor %s: rows of %d elements are no whole blocks of %d (%s)", name, cols, w.Format.Elems, w.Format.Name)
		}
		return w
	}
	kv := c.KVHeads * c.HeadDim
	w := &weights{embedding: get("token_embd.weight", c.Vocab, c.Hidden), outputNorm: get("output_norm.weight", 1, c.Hidden)}
	w.output = w.embedding
	if c.OwnOutput {
		w.output = get("output.weight", c.Vocab, c.Hidden)
	}
	for i := range c.Layers {
		p := fmt.Sprintf("blk.%d.", i)
		w.layers = append(w.layers, layerWeights{
			q:        get(p+"attn_q.weight", c.Hidden, c.Hidden),
			k:        get(p+"attn_k.weight", kv, c.Hidden),
			v:        get(p+"attn_v.weight", kv, c.Hidden),
			o:        get(p+"attn_output.weight", c.Hidden, c.Hidden),
			gate:     get(p+"ffn_gate.weight", c.FFN, c.Hidden),
			down:     get(p+"ffn_down.weight", c.Hidden, c.FFN),
			up:       get(p+"ffn_up.weight", c.FFN, c.Hidden),
			attnNorm: get(p+"attn_norm.weight", 1, c.Hidden),
			ffnNorm:  get(p+"ffn_norm.weight", 1, c.Hidden),
		})
	}
	return w, err
}
