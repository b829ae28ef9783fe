// Package pool is candle 0.11.0's way of using buffers again
// (candle-core/src/metal_backend/device.rs): free ones are found by size, and
// those still free when the CPU has waited for the GPU are released.
package pool

import "math/bits"

// Pool holds buffers, used and free, in classes by their size in bytes.
type Pool[B any] struct {
	classes map[int][]*Item[B]
}

// Item is a buffer of a pool.
type Item[B any] struct {
	Buffer B
	Size   int // bytes: the class it stands in
	free   bool
}

// Free gives the buffer back. The GPU may still work on it: what is encoded
// next comes after that, by barriers and fences.
func (i *Item[B]) Free() { i.free = true }

// Class is the length in bytes that a new buffer for n bytes is made with.
func Class(n int) int {
	if n <= 1 {
		return 1
	}
	return 1 << bits.Len(uint(n-1))
}

// Take finds a free buffer of at least n bytes and marks it used: the smallest
// class that has a free one, however large, and of that the last. It is nil if
// there is none.
func (p *Pool[B]) Take(n int) *Item[B] {
	best := -1
	for size, items := range p.classes {
		if size < n || best >= 0 && size >= best {
			continue
		}
		if lastFree(items) != nil {
			best = size
		}
	}
	if best < 0 {
		return nil
	}
	item := lastFree(p.classes[best])
	item.free = false
	return item
}

func lastFree[B any](items []*Item[B]) *Item[B] {
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].free {
			return items[i]
		}
	}
	return nil
}

// Add puts a used buffer of size bytes into the pool.
func (p *Pool[B]) Add(size int, b B) *Item[B] {
	if p.classes == nil {
		p.classes = map[int][]*Item[B]{}
	}
	item := &Item[B]{Buffer: b, Size: size}
	p.classes[size] = append(p.classes[size], item)
	return item
}

// Sweep takes all free buffers out of the pool and hands each to release.
func (p *Pool[B]) Sweep(release func(B)) {
	for size, items := range p.classes {
		kept := items[:0]
		for _, i := range items {
			if i.free {
				release(i.Buffer)
			} else {
				kept = append(kept, i)
			}
		}
		clear(items[len(kept):])
		if len(kept) == 0 {
			delete(p.classes, size)
			continue
		}
		p.classes[size] = kept
	}
}

// All calls f for every buffer, used or free, and empties the pool.
func (p *Pool[B]) All(f func(B)) {
	for _, items := range p.classes {
		for _, i := range items {
			f(i.Buffer)
		}
	}
	p.classes = nil
}
