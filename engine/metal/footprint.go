package metal

import (
	"github.com/introgen/introgen/engine"
	"github.com/introgen/introgen/engine/transformer"
)

// Footprint is the memory that a run of a model cannot do without whose file has so
// many bytes of weights: a copy of them on the device, or where mapped the file's own,
// and the embedding of vocab rows as float32.
func Footprint(p *transformer.Params, weights int64, vocab, positions int) engine.Footprint {
	const float32Bytes = 4
	return engine.Footprint{Weights: weights, Positions: positions,
		Copies: float32Bytes * int64(p.Hidden) * int64(vocab),
		Cache:  engine.KeysAndValues(p.Layers, p.KVHeads, p.HeadDim, positions, float32Bytes)}
}
