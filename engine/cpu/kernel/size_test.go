package kernel

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// call is a call of a kernel with slices that fit exactly: the slices' lengths
// and the counts can be changed before it is made.
type call struct {
	floats map[string]*[]float32
	bytes  map[string]*[]byte
	counts map[string]*int
	panel  *Panel
	do     func()
}

// calls returns a call of every kernel of s with operands that fit.
func calls(s *Set) map[string]func() call {
	const rows, nb, tokens, n = 2 * TileRows, 3 * superBlocks, 5, 48
	f := func(n int) []float32 { return make([]float32, n) }
	all := map[string]func() call{
		"Quantize": func() call {
			p, t, b0, x := NewPanel(Aligned, tokens, nb*Block), tokens-1, 1, f((nb-1)*Block)
			p.Shape(tokens, nb*Block)
			return call{floats: map[string]*[]float32{"x": &x}, panel: p, counts: map[string]*int{"t": &t, "b0": &b0}, do: func() { s.Quantize(p, t, b0, x) }}
		},
		"Dot": func() call {
			a, b := f(n+1), f(n+1)
			return call{floats: map[string]*[]float32{"b": &b}, do: func() { s.Dot(a, b) }}
		},
		"RMSNorm": func() call {
			dst, x, w := f(n+1), f(n+1), f(n+1)
			return call{floats: map[string]*[]float32{"dst": &dst, "w": &w}, do: func() { s.RMSNorm(dst, x, w, 1) }}
		},
		"SwiGLU": func() call {
			dst, gate, up := f(n+1), f(n+1), f(n+1)
			return call{floats: map[string]*[]float32{"dst": &dst, "up": &up}, do: func() { s.SwiGLU(dst, gate, up) }}
		},
		"Rope": func() call {
			x, cos, sin := f(n), f(n), f(n)
			return call{floats: map[string]*[]float32{"x": &x, "sin": &sin}, do: func() { s.Rope(x, cos, sin) }}
		},
		"GeGLU": func() call {
			dst, gate, up := f(n+1), f(n+1), f(n+1)
			return call{floats: map[string]*[]float32{"dst": &dst, "up": &up}, do: func() { s.GeGLU(dst, gate, up) }}
		},
		"RopeHalves": func() call {
			x, cos, sin := f(2*n), f(n), f(n)
			return call{floats: map[string]*[]float32{"x": &x, "sin": &sin}, do: func() { s.RopeHalves(x, cos, sin) }}
		},
		"Scores": func() call {
			dst, q, k, queries, tiles, blocks := f(QueryRows*Span), f(QueryRows*2*Block), make([]byte, 3*2*CacheBlock), 1, 3, 2
			return call{floats: map[string]*[]float32{"dst": &dst, "q": &q}, bytes: map[string]*[]byte{"k": &k}, counts: map[string]*int{"queries": &queries, "tiles": &tiles, "blocks": &blocks},
				do: func() { s.Scores(dst, q, k, queries, tiles, blocks) }}
		},
		"Powers": func() call {
			x := f(n)
			return call{floats: map[string]*[]float32{"x": &x}, do: func() { s.Powers(x, 1) }}
		},
		"Weigh": func() call {
			out, w, v, queries, positions, blocks := f(QueryRows*2*Block), f(QueryRows*Span), make([]byte, 3*2*CacheBlock), 1, 2*CacheTile+1, 2
			return call{floats: map[string]*[]float32{"out": &out, "w": &w}, bytes: map[string]*[]byte{"v": &v}, counts: map[string]*int{"queries": &queries, "n": &positions, "blocks": &blocks},
				do: func() { s.Weigh(out, w, v, queries, positions, blocks) }}
		},
		"PutKey":   func() call { return putCall(PutKey) },
		"PutValue": func() call { return putCall(PutValue) },
		"Max": func() call {
			x := f(1)
			return call{floats: map[string]*[]float32{"x": &x}, do: func() { s.Max(x) }}
		},
	}
	r := rand.New(rand.NewPCG(1, 1))
	for typ, k := range s.Formats {
		all[fmt.Sprint("Mul ", typ)] = func() call {
			dst, w, p := f(rows), blocks(r, typ, rows, nb), panel(r, 1, nb)
			return call{floats: map[string]*[]float32{"dst": &dst}, bytes: map[string]*[]byte{"w": &w}, panel: p,
				do: func() { k.Mul(dst, w, p, rows, false) }}
		}
		all[fmt.Sprint("Pack ", typ)] = func() call {
			src := blocks(r, typ, TileRows, nb)
			dst := make([]byte, TileRows*k.TileBytes(nb*Block))
			return call{bytes: map[string]*[]byte{"dst": &dst, "src": &src}, do: func() { k.Pack(dst, src, nb) }}
		}
		if k.PackTile != nil {
			all[fmt.Sprint("PackTile ", typ)] = func() call {
				w, p, stride := blocks(r, typ, TileRows, nb), panel(r, tokens, nb), TileRows+3
				dst, room, scratch := f((tokens-1)*stride+TileRows), make([]byte, TileRows*k.TileBytes(nb*Block)), f(tokens*TileRows)
				return call{floats: map[string]*[]float32{"dst": &dst, "scratch": &scratch}, bytes: map[string]*[]byte{"w": &w, "room": &room}, panel: p,
					counts: map[string]*int{"stride": &stride}, do: func() { k.PackTile(dst, stride, w, room, p, false, scratch, nil) }}
			}
		}
		for _, tokens := range []int{1, tokens} {
			all[fmt.Sprint("Tile ", typ, " ", tokens)] = func() call {
				w, p, stride := make([]byte, rows*k.TileBytes(nb*Block)), panel(r, tokens, nb), rows+3
				dst, scratch := f((tokens-1)*stride+rows), f(tokens*TileRows)
				c := call{floats: map[string]*[]float32{"dst": &dst, "scratch": &scratch}, bytes: map[string]*[]byte{"w": &w}, panel: p,
					do: func() { k.Tile(dst, stride, w, p, rows, false, scratch, nil) }}
				if tokens > 1 {
					c.counts = map[string]*int{"stride": &stride}
				}
				return c
			}
		}
	}
	return all
}

// putCall is a call that writes two blocks of a position, the last of three.
func putCall(put func(tile []byte, i, b0 int, p *Panel)) call {
	p, tile, i, b0 := NewPanel(Aligned, 1, 2*Block), make([]byte, 3*CacheBlock), 3, 1
	p.Shape(1, 2*Block)
	return call{bytes: map[string]*[]byte{"tile": &tile}, counts: map[string]*int{"i": &i, "b0": &b0}, panel: p, do: func() { put(tile, i, b0, p) }}
}

// sizeError calls do and returns the SizeError that it panics with, if it does.
func sizeError(t *testing.T, do func()) (err *SizeError) {
	t.Helper()
	defer func() {
		if cause, ok := recover().(error); ok && !errors.As(cause, &err) {
			t.Errorf("panic %v; want a SizeError", cause)
		}
	}()
	do()
	return nil
}

// A slice that is one value too short, or a count that is one too large, is
// found before anything is read or written.
func TestSizesAreChecked(t *testing.T) {
	for _, s := range sets(t) {
		for name, build := range calls(s) {
			t.Run(s.Name+"/"+name, func(t *testing.T) {
				if err := sizeError(t, build().do); err != nil {
					t.Fatalf("operands that fit: %v", err)
				}
				tried := 0
				refused := func(what string, c call) {
					tried++
					if err := sizeError(t, c.do); err == nil {
						t.Errorf("%s is wrong, and goes unseen", what)
					} else if err.Error() == "" || err.Have == err.Need {
						t.Errorf("%s: %v", what, err)
					}
				}
				c := build()
				for what := range c.floats {
					c := build()
					x := c.floats[what]
					*x = (*x)[:len(*x)-1]
					whole := (*x)[:cap(*x)]
					before := slices.Clone(whole)
					refused(what, c)
					if !slices.Equal(before, whole) {
						t.Errorf("%s was written to", what)
					}
				}
				for what := range c.bytes {
					c := build()
					x := c.bytes[what]
					*x = (*x)[:len(*x)-1]
					refused(what, c)
				}
				for what := range c.counts {
					for _, v := range []int{-1, 1000} {
						if what == "stride" && v > 0 {
							v = 1
						}
						c := build()
						*c.counts[what] = v
						refused(fmt.Sprint(what, " ", v), c)
					}
				}
				if c.panel != nil {
					for what, spoil := range map[string]func(p *Panel){
						"values": func(p *Panel) { p.Q = p.Q[:len(p.Q)-1] },
						"scales": func(p *Panel) { p.Scale = p.Scale[:len(p.Scale)-1] },
						"sums":   func(p *Panel) { p.Sum = p.Sum[:len(p.Sum)-1] },
						"tokens": func(p *Panel) { p.Tokens++ },
						"blocks": func(p *Panel) { p.Blocks++ },
						"none":   func(p *Panel) { p.Tokens = 0 },
						"empty":  func(p *Panel) { p.Blocks = 0 },
					} {
						c := build()
						spoil(c.panel)
						refused("panel: "+what, c)
					}
				}
				if tried == 0 {
					t.Error("nothing was tried")
				}
			})
		}
	}
}
