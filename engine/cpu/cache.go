package cpu

import (
	"fmt"
	"math"

	"github.com/introgen/introgen/engine/cpu/kernel"
	"github.com/introgen/introgen/engine/cpu/pages"
)

// newCache reserves the keys and values of all positions: memory is taken where they
// are written. A number of positions that the caller asked for is what it will use,
// and else the most that it could.
func (e *Engine) newCache() error {
	each := e.cachedHeads() * kernel.CacheTileBytes(e.m.HeadDim) // bytes of a tile of positions
	tiles := ceil(e.opt.Context, kernel.CacheTile)
	if tiles > math.MaxInt/2/each {
		return fmt.Errorf("context: a cache for %d positions does not fit into memory", e.opt.Context)
	}
	half := each * tiles
	if there, yes := tooMuch(2 * half); yes && e.asked {
		return fmt.Errorf("context: a cache of %d positions takes %d MiB, and %d MiB of memory are available; ask for fewer", e.opt.Context, 2*half>>20, there>>20)
	}
	for _, c := range []**pages.Memory{&e.keys, &e.values} {
		var err error
		if *c, err = reserve(half, pages.Usual); err != nil {
			return fmt.Errorf("cache of %d positions: %w; ask for fewer", e.opt.Context, err)
		}
	}
	e.k, e.v = e.keys.Bytes, e.values.Bytes
	return nil
}

// cachedBytes is what a key, or a value, of a head of so many values takes in the cache.
func cachedBytes(dim int) int { return kernel.CacheTileBytes(dim) / kernel.CacheTile }

// CacheBytes is what the keys and values of the positions take that have passed.
func (e *Engine) CacheBytes() int64 {
	const keyAndValue = 2
	return keyAndValue * int64(e.cachedHeads()) * int64(cachedBytes(e.m.HeadDim)) * int64(e.passed)
}

// tiles returns the tiles of a head, of keys or of values, from that of a position on.
func (e *Engine) tiles(of []byte, layer, head, pos int) []byte {
	size := kernel.CacheTileBytes(e.m.HeadDim)
	all := ceil(e.opt.Context, kernel.CacheTile)
	first := (e.blocks[layer].cached + head) * all
	return of[(first+pos/kernel.CacheTile)*size : (first+all)*size]
}

// cachedHeads returns how many key heads, and value heads, all layers have together.
func (e *Engine) cachedHeads() int {
	last := &e.blocks[len(e.blocks)-1]
	return last.cached + last.KVHeads
}

// cache writes x as what a position has from value d0 on, which begins a block: of a head's
// keys, or of its values.
func (e *Engine) cache(th *thread, keys bool, layer, head, pos, d0 int, x []float32) {
	p := th.cached
	p.Shape(1, ceil(len(x), kernel.Block)*kernel.Block)
	if n := p.Blocks * kernel.Block; n > len(x) {
		y := th.padded[:n]
		clear(y[copy(y, x):])
		x = y
	}
	e.set.Quantize(p, 0, 0, x)
	if keys {
		kernel.PutKey(e.tiles(e.k, layer, head, pos), pos%kernel.CacheTile, d0/kernel.Block, p)
		return
	}
	kernel.PutValue(e.tiles(e.v, layer, head, pos), pos%kernel.CacheTile, d0/kernel.Block, p)
}
