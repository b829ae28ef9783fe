package forward

import (
	"fmt"
	"math"
	"strings"
)

// twoPassKeys is the number of keys from which attention of one token runs in
// two passes (TWO_PASS_K_THRESHOLD in candle-nn/src/ops.rs).
const twoPassKeys = 1024

// TwoPassBlocks is over how many blocks of keys it then does (SDPA_2PASS_BLOCKS in
// candle-metal-kernels/src/kernels/sdpa.rs).
const TwoPassBlocks = 32

// Config is what the plan needs to know of a model.
type Config struct {
	// Model is the architecture that the file names, one of Models; "" is llama.
	Model string
	// Candle says that the steps are candle's, value for value, also where candle
	// computes something else than the model.
	Candle bool

	Layers, Heads, KVHeads, HeadDim int
	Hidden, FFN, Vocab              int
	Context                         int // positions that the model's file allows
	// Positions is how many the run reaches, for which a plan of the model's arithmetic
	// makes room where candle makes it for all of Context; 0 is all.
	Positions int
	RMSEps    float32
	RopeBase  float32
	RopeDim   int
	// Rotary is how the heads of a layer are turned, where that is not by powers of
	// RopeBase alone; nil where it is, and not looked at by candle's arithmetic.
	Rotary func(layer int) Rotary
	// RopeBaseLocal is that of layers with a window, where it is another; 0 where not.
	RopeBaseLocal float32
	// Window is how many positions back a layer's attention reaches, the own one
	// counted; nil, and 0, is all.
	Window func(layer int) int
	// AttnScale is what scores are multiplied by, where that is not the root of HeadDim;
	// 0 where it is, and not looked at by candle's arithmetic.
	AttnScale float32
	// HalfTables says that candle keeps the rotary tables as float16, as it does in
	// qwen3 where general.dtype does not say otherwise. It is not looked at but by
	// candle's arithmetic.
	HalfTables bool
	// Has says whether the file has a tensor; nil where it has those that candle's model
	// looks up, and no others.
	Has func(tensor string) bool
	// OwnOutput says that the model has an output.weight of its own.
	OwnOutput bool
	// Format is the format of a tensor, by its name in the model file.
	Format func(tensor string) (Format, error)
	// Architecture is the device's, such as "applegpu_g13g"; "" if it has
	// none. It chooses tiles of the Gemm kernels.
	Architecture string
}

// Rotary is how pairs of a head's values are turned: pair i by the position times
// Frequencies[i] radians, and what comes out is multiplied by Scale.
type Rotary struct {
	Frequencies []float32 // RopeDim/2
	Scale       float32
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
	case models[c.Model] == nil:
		return Unsupported("architecture %q; candle's passes here are of %s", c.Model, strings.Join(Models(), ", "))
	case c.RopeDim != c.HeadDim && !c.partlyTurned():
		return Unsupported("rotary dimension %d differs from the head dimension %d; candle's rope kernel turns whole heads", c.RopeDim, c.HeadDim)
	case c.FFN == 1:
		return Unsupported("a feed-forward size of 1, for which candle launches other kernels than for all larger ones")
	case c.Vocab == 1:
		return Unsupported("a vocabulary of 1, for which candle launches other kernels than for all larger ones")
	case c.Format == nil:
		return fmt.Errorf("metal plan: Config.Format is not set")
	}
	return models[c.Model].check(c)
}

// partlyTurned says that the leading values of a head are turned alone, as phi3 has it.
// candle's model of that does not know it.
func (c *Config) partlyTurned() bool {
	return c.Model == "phi3" && !c.Candle && c.RopeDim < c.HeadDim && c.RopeDim > 0 && c.RopeDim%2 == 0
}

// bounded says that the plan makes room for the run's positions alone.
func (c *Config) bounded() bool {
	return !c.Candle && c.Positions > 0 && (c.Model == "gemma3" || c.Model == "phi3")
}

// tableRows is how many rows rotary tables of at most so many have. It goes by powers of
// two, so that runs of other lengths need the same kernels.
func (c *Config) tableRows(most int) int {
	reach, _ := c.positions()
	return min(c.Context, most, max(MaxPositions, nextPow2(reach)))
}

// windowed says that a layer has a window.
func (c *Config) windowed() bool {
	for i := range c.Layers {
		if c.window(i) > 0 {
			return true
		}
	}
	return false
}

// wholeHeads refuses heads that do not divide the hidden size, where candle takes their
// dimension from that.
func (c *Config) wholeHeads() error {
	if c.Candle && c.Heads*c.HeadDim != c.Hidden {
		return Unsupported("%d heads of dimension %d make %d, but the hidden size is %d; candle's attention needs them equal", c.Heads, c.HeadDim, c.Heads*c.HeadDim, c.Hidden)
	}
	return nil
}

// biases finds those that the file has of matrices of a layer. theirs says that candle's
// model adds them too.
func (c *Config) biases(get getter, theirs bool, of map[*loaded]loaded) {
	for to, matrix := range of {
		name := strings.TrimSuffix(matrix.Name, ".weight") + ".bias"
		has := theirs
		if c.Has != nil {
			has = c.Has(name) && (theirs || !c.Candle)
		}
		if has {
			_, inLayer, _ := strings.Cut(strings.TrimPrefix(name, "blk."), ".")
			*to = get(inLayer, 1, matrix.Rows)
		}
	}
}

// weights are the matrices and norms of a model.
type weights struct {
	embedding, outputNorm, output Weight
	layers                        []layer
}

// loaded is a weight, and the buffer that it lies in: 0 where it is not on the device,
// or the model has none.
type loaded struct {
	Weight
	buf Buf
}

// layer is the weights of a layer, and what it keeps on the device. Which there are
// depends on the model.
type layer struct {
	number                     int // from 0
	q, k, v, o, gate, down, up loaded
	attnNorm, ffnNorm          loaded
	attnPostNorm, ffnPostNorm  loaded
	qkv                        loaded // in place of q, k and v
	qBias, kBias, vBias, oBias loaded
	gateBias, upBias, downBias loaded
	qkvBias                    loaded
	qNorm, kNorm               loaded // of each head

	// The keys and values of the positions [0, cached), each kvHeads × cached
	// × headDim; no buffers where cached is 0.
	keys, values Buf
	cached       int
	tokensFirst  bool // the values are cached × kvHeads × headDim

	cos, sin tensor // where each layer has its own
}

// getter finds a tensor of a layer, by its name in the layer, and keeps the first
// error.
type getter func(name string, rows, cols int) loaded

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
	w := &weights{embedding: get("token_embd.weight", c.Vocab, c.Hidden), outputNorm: get("output_norm.weight", 1, c.Hidden)}
	w.output = w.embedding
	if c.OwnOutput {
		w.output = get("output.weight", c.Vocab, c.Hidden)
	}
	for i := range c.Layers {
		l := models[c.Model].layer(c, func(name string, rows, cols int) loaded {
			return loaded{Weight: get(fmt.Sprintf("blk.%d.%s", i, name), rows, cols)}
		})
		l.number = i
		w.layers = append(w.layers, l)
	}
	return w, err
}

// separate is the weights of a layer that most models have, each by itself.
func (c *Config) separate(get getter) layer {
	q, kv := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	return layer{
		q:        get("attn_q.weight", q, c.Hidden),
		k:        get("attn_k.weight", kv, c.Hidden),
		v:        get("attn_v.weight", kv, c.Hidden),
		o:        get("attn_output.weight", c.Hidden, q),
		gate:     get("ffn_gate.weight", c.FFN, c.Hidden),
		down:     get("ffn_down.weight", c.Hidden, c.FFN),
		up:       get("ffn_up.weight", c.FFN, c.Hidden),
		attnNorm: get("attn_norm.weight", 1, c.Hidden),
		ffnNorm:  get("ffn_norm.weight", 1, c.Hidden),
	}
}
