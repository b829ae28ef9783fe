package metal

import (
	"fmt"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/pool"
	"github.com/introgen/introgen/engine/transformer"
)

// Room says for what candle 0.11.0's model of m makes room, however short the run, where
// a plan of the model's arithmetic makes it for the run alone: in words, and in bytes; ""
// where there is no such thing.
func Room(m *transformer.Model) (what string, bytes int64) {
	const float = 4
	switch m.Architecture.Name {
	case "gemma3":
		rows, _ := forward.Positions("gemma3", 1<<30)
		const cosAndSin = 2
		return fmt.Sprintf("rotary tables of %d positions in each of %d layers", rows, m.Layers),
			int64(m.Layers) * cosAndSin * int64(pool.Class(rows*m.HeadDim/2*float))
	case "phi3":
		const keysAndValues = 2
		one := pool.Class(m.KVHeads * m.Context * m.HeadDim * float)
		return fmt.Sprintf("a cache of %d positions in each of %d layers", m.Context, m.Layers), int64(m.Layers) * keysAndValues * int64(one)
	}
	return "", 0
}
