package cpu

import (
	"fmt"
	"math"

	"github.com/introgen/introgen/engine/cpu/pages"
)

// newCache reserves the keys and values of all positions: memory is taken where they
// are written. A number of positions that the caller asked for is what it will use,
// and else the most that it could.
func (e *Engine) newCache() error {
	half, err := cacheFloats(e.cachedHeads()*e.m.HeadDim, e.opt.Context)
	if err != nil {
		return err
	}
	if there, yes := tooMuch(2 * 4 * half); yes && e.asked {
		return fmt.Errorf("context: a cache of %d positions takes %d MiB, and %d MiB of memory are available; ask for fewer", e.opt.Context, 2*4*half>>20, there>>20)
	}
	for _, c := range []**pages.Memory{&e.keys, &e.values} {
		if *c, err = reserve(4*half, pages.Usual); err != nil {
			return fmt.Errorf("cache of %d positions: %w; ask for fewer", e.opt.Context, err)
		}
	}
	e.k, e.v = e.keys.Floats(), e.values.Floats()
	return nil
}

// cacheFloats returns the values that the keys of so many positions are, perhaps
// in all layers together; the values are as many.
func cacheFloats(each, positions int) (int, error) {
	if positions > math.MaxInt/8/each {
		return 0, fmt.Errorf("context: a cache for %d positions does not fit into memory", positions)
	}
	return each * positions, nil
}

// CacheBytes is what the keys and values of the positions take that have passed.
func (e *Engine) CacheBytes() int64 {
	const keyAndValue, float32Bytes = 2, 4
	return keyAndValue * float32Bytes * int64(e.cachedHeads()) * int64(e.m.HeadDim) * int64(e.passed)
}

// at returns where the cached values of a position begin.
func (e *Engine) at(layer, head, pos int) int {
	return ((e.blocks[layer].cached+head)*e.opt.Context + pos) * e.m.HeadDim
}

// cachedHeads returns how many key heads, and value heads, all layers have together.
func (e *Engine) cachedHeads() int {
	last := &e.blocks[len(e.blocks)-1]
	return last.cached + last.KVHeads
}
