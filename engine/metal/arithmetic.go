package metal

import (
	"fmt"
	"math"
	"strings"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/transformer"
)

// Arithmetic says whose arithmetic an engine computes, where candle 0.11.0's model of an
// architecture is not quite that.
type Arithmetic uint8

const (
	// OfModel is what the architecture says, by candle's dispatches as far as these
	// compute it.
	OfModel Arithmetic = iota
	// OfCandle is candle's, dispatch for dispatch and value for value.
	OfCandle
)

var arithmetics = []string{"model", "candle"}

func (a Arithmetic) String() string { return arithmetics[a] }

// Arithmetics are the names that ParseArithmetic takes.
func Arithmetics() []string { return arithmetics }

// ParseArithmetic is the arithmetic of that name.
func ParseArithmetic(name string) (Arithmetic, error) {
	for i, s := range arithmetics {
		if s == name {
			return Arithmetic(i), nil
		}
	}
	return 0, fmt.Errorf("arithmetic %q; it is %s", name, strings.Join(arithmetics, " or "))
}

// LeftOut is what candle 0.11.0's model leaves out of the arithmetic of m or computes
// otherwise, a clause each, such as "layer 0 has attention biases (tensor
// blk.0.attn_q.bias)": it looks up the tensors of its own plan alone, and of the keys
// about rotations few.
func LeftOut(m *transformer.Model) []string {
	var out []string
	if how := turns(m); how != "" {
		out = append(out, how)
	}
	if scaled(m) {
		out = append(out, fmt.Sprintf("scores are multiplied by %v and not by the root of the heads' dimension", m.AttnScale))
	}
	out = append(out, leftOutOf(m)...)
	if m.Architecture.Name == "qwen3" && !m.SaysFloat32 {
		out = append(out, "rotations have more digits than those of float16, in which candle keeps them unless general.dtype is 0")
	}
	if l, what, tensor := biased(m); tensor != "" {
		out = append(out, fmt.Sprintf("layer %d has %s (tensor %s)", l, what, tensor))
	}
	if m.Heads*m.HeadDim != m.Hidden && takesWholeHeads(m) {
		out = append(out, fmt.Sprintf("%d heads of dimension %d are not as many values as the hidden size of %d", m.Heads, m.HeadDim, m.Hidden))
	}
	return out
}

// takesWholeHeads says that candle's model takes the dimension of a head from the hidden
// size.
func takesWholeHeads(m *transformer.Model) bool {
	return m.Architecture.Name == "llama" || m.Architecture.Name == "qwen2" || m.Architecture.Name == "phi3"
}

// candleBase is the base by whose powers candle's model turns a layer's heads.
func candleBase(m *transformer.Model, layer int) float64 {
	switch {
	case m.Architecture.Name == "phi3":
		return phi3Base
	case m.Architecture.Name == "gemma3" && candleWindow(m, layer) > 0:
		return gemma3LocalBase
	}
	return float64(m.RopeBase)
}

const (
	// phi3Base is what quantized_phi3.rs has for the key.
	phi3Base = 10000
	// gemma3LocalBase is the base of layers with a window (DEFAULT_ROPE_FREQUENCY_SLIDING
	// in quantized_gemma3.rs), where no key says rope.local_freq_base: no known file does.
	gemma3LocalBase = 10000
	// gemma3Pattern: of so many layers the last has no window
	// (DEFAULT_SLIDING_WINDOW_TYPE).
	gemma3Pattern = 6
)

// candleWindow is how far back candle's model of gemma3 takes a layer to reach; 0 is all.
func candleWindow(m *transformer.Model, layer int) int {
	if m.Architecture.Name != "gemma3" || (layer+1)%gemma3Pattern == 0 {
		return 0
	}
	window := 0
	for i := range m.Blocks {
		window = max(window, m.Blocks[i].Window)
	}
	return window
}

// leftOutOf is what is so of all or many models of an architecture.
func leftOutOf(m *transformer.Model) (out []string) {
	if m.Architecture.Name != "gemma3" {
		return nil
	}
	out = append(out, "the gate's function is GELU and not SiLU")
	window, alike := 0, true
	for i := range m.Blocks {
		window = max(window, m.Blocks[i].Window)
		alike = alike && m.Blocks[i].Window == candleWindow(m, i)
	}
	if window > 0 {
		out = append(out, fmt.Sprintf("attention within a window of %d positions and not of %d, in passes of one token too", window, window+1))
	}
	if !alike {
		out = append(out, fmt.Sprintf("layers without a window are others than each %dth", gemma3Pattern))
	}
	return out
}

// turns says how m turns heads otherwise than by powers of rope.freq_base, or "".
func turns(m *transformer.Model) string {
	if m.RopeScale != 1 {
		return fmt.Sprintf("positions are divided by %v (metadata %s.rope.scaling.factor or rope.scale_linear)", m.RopeScale, m.Architecture.Name)
	}
	if m.RopeDim != m.HeadDim && m.Architecture.Name == "phi3" {
		return fmt.Sprintf("%d values of each head of %d are turned (metadata phi3.rope.dimension_count)", m.RopeDim, m.HeadDim)
	}
	for i := range m.Blocks {
		base := candleBase(m, i)
		if m.Architecture.Name == "phi3" && float64(m.RopeBase) != base {
			return fmt.Sprintf("the base of the rotations' frequencies is %v and not %v (metadata phi3.rope.freq_base)", m.RopeBase, base)
		}
		r := m.Rotary(i, m.Context)
		plain := math.Abs(r.Scale-1) < 1e-6
		for j, f := range r.Frequencies {
			want := math.Pow(base, -2*float64(j)/float64(m.RopeDim))
			plain = plain && math.Abs(f-want) <= 1e-6*want
		}
		if !plain {
			return "the frequencies of the rotations are divided or scaled (tensor rope_freqs.weight, or metadata " + m.Architecture.Name + ".rope.scaling.type)"
		}
	}
	return ""
}

// scaled says that scores are multiplied by something else than the root of a head's
// dimension.
func scaled(m *transformer.Model) bool {
	usual := 1 / math.Sqrt(float64(m.HeadDim))
	return math.Abs(float64(m.AttnScale)-usual) > 1e-6*usual
}

// biased is the first bias that candle's model does not add.
func biased(m *transformer.Model) (layer int, what, tensor string) {
	for i := range m.Blocks {
		b := &m.Blocks[i]
		for _, bias := range biases(b) {
			if bias.values != nil && b.QKV.Name != "" && bias.of == "attn_q" {
				bias.of = "attn_qkv"
			}
			adds := m.Architecture.Name == "qwen2" && (bias.of == "attn_q" || bias.of == "attn_k" || bias.of == "attn_v")
			if bias.values == nil || adds {
				continue
			}
			what = "feed-forward biases"
			if strings.HasPrefix(bias.of, "attn") {
				what = "attention biases"
			}
			return i, what, fmt.Sprintf("blk.%d.%s.bias", i, bias.of)
		}
	}
	return 0, "", ""
}

// bias is a bias of a layer, by the name of its matrix; nil where there is none.
type bias struct {
	of     string
	values []float32
}

func biases(b *transformer.Block) []bias {
	return []bias{
		{"attn_q", b.QB}, {"attn_k", b.KB}, {"attn_v", b.VB}, {"attn_output", b.OB},
		{"ffn_gate", b.GateB}, {"ffn_up", b.UpB}, {"ffn_down", b.DownB},
	}
}

// check refuses what no plan computes, whosever arithmetic it follows.
func check(m *transformer.Model) error {
	for i := range m.Blocks {
		b := &m.Blocks[i]
		for _, of := range []struct {
			what      string
			here, all int
		}{{"heads", b.Heads, m.Heads}, {"key/value heads", b.KVHeads, m.KVHeads}, {"values in the feed-forward part", b.FFN, m.FFN}} {
			if of.here != of.all {
				return forward.Unsupported("layer %d has %d %s and another has %d; candle's passes have layers of one size", i, of.here, of.what, of.all)
			}
		}
	}
	if name := m.Architecture.Name; name == "gemma3" || name == "phi3" {
		return nil
	}
	for i := range m.Blocks {
		if w := m.Blocks[i].Window; w > 0 && w < m.Context {
			return forward.Unsupported("layer %d attends to a window of %d positions; of %s there is no plan with windows", i, w, m.Architecture.Name)
		}
	}
	return nil
}

// plan is whose arithmetic a plan follows, over how many positions, on which device.
type plan struct {
	arithmetic   Arithmetic
	positions    int // that the run reaches; 0 is all that the model allows
	architecture string
}

// config is what the plan needs to know of m, whose tensors are weights.
func (p plan) config(m *transformer.Model, weights map[string]weight) forward.Config {
	c := forward.Config{
		Model: m.Architecture.Name, Candle: p.arithmetic == OfCandle, HalfTables: !m.SaysFloat32,
		Layers: m.Layers, Heads: m.Heads, KVHeads: m.KVHeads, HeadDim: m.HeadDim,
		Hidden: m.Hidden, FFN: m.FFN, Vocab: m.Vocab, Context: m.Context, Positions: p.positions,
		RMSEps: m.RMSEps, RopeBase: m.RopeBase, RopeDim: m.RopeDim,
		OwnOutput:    !m.Tied,
		Architecture: p.architecture,
		Format: func(tensor string) (forward.Format, error) {
			return forward.FormatOf(weights[tensor].typ.String())
		},
		Has:    func(tensor string) bool { _, ok := weights[tensor]; return ok },
		Window: func(layer int) int { return m.Blocks[layer].Window },
	}
	if m.Architecture.Name == "gemma3" {
		c.RopeBaseLocal = gemma3LocalBase
		if c.Candle {
			c.Window = func(layer int) int { return candleWindow(m, layer) }
		}
	}
	if turns(m) != "" {
		positions := p.positions
		if positions == 0 {
			positions, _ = forward.Positions(m.Architecture.Name, m.Context)
		}
		c.Rotary = func(layer int) forward.Rotary {
			r := m.Rotary(layer, positions)
			f := make([]float32, len(r.Frequencies))
			for i, v := range r.Frequencies {
				f[i] = float32(v)
			}
			return forward.Rotary{Frequencies: f, Scale: float32(r.Scale)}
		}
	}
	if scaled(m) {
		c.AttnScale = m.AttnScale
	}
	return c
}
