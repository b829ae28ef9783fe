package cpu

import (
	"github.com/introgen/introgen/engine"
	"github.com/introgen/introgen/engine/transformer"
)

// Footprint is the memory that a run of a model cannot do without whose file has so
// many bytes of weights. It reads the weights where they are mapped, and once more
// where o asks to pack them.
func (o Options) Footprint(p *transformer.Params, weights int64, positions int) engine.Footprint {
	f := engine.Footprint{Weights: weights, Positions: positions,
		Cache: engine.KeysAndValues(p.Layers, p.KVHeads, cachedBytes(p.HeadDim), positions, 1)}
	if o.Pack == PackOn {
		f.Copies = weights
	}
	return f
}
