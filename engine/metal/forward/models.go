package forward

import (
	"maps"
	"slices"
)

// model is one of candle's: what it asks of a file, how it is built and what a pass
// issues, in candle's order. Each has a file.
type model interface {
	// rows is how many positions its rotary tables have.
	rows(context int) int
	// check says what of c it cannot run.
	check(c *Config) error
	// layer finds the weights of a layer.
	layer(c *Config, get getter) layer
	// build is from_gguf.
	build(p *Planner)
	// forward is a pass of n tokens from position pos on, up to the logits of the
	// last one.
	forward(p *Planner, tokens Buf, n, pos int) Buf
	// decoding is what the kernels of a pass of one token depend on over so many keys:
	// equal values, equal kernels.
	decoding(c *Config, keys int) any
}

// models are by what general.architecture says.
var models = map[string]model{
	"":       llama{},
	"llama":  llama{},
	"qwen2":  qwen2{},
	"qwen3":  qwen3{},
	"gemma3": gemma3{},
	"phi3":   phi3{},
}

// Models are the architectures that there is a plan for.
func Models() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(models)), func(s string) bool { return s == "" })
}

// products is what decoding depends on where attention of one token is two products
// with all keys and values, of heads of dim.
func products(keys, dim int) any {
	return [2]vectorTile{chooseVectorTile(keys, dim), chooseTransposedTile(dim, keys)}
}
