package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/quant"
)

// sets returns every set that this machine runs, and says which it does not.
func sets(t testing.TB) []*Set {
	t.Helper()
	fillHalves()
	all := append(supported(), generic())
	if len(all) == 1 {
		t.Log("SKIP: needs AVX2 or AVX-512 or NEON: only the twins are tested here")
	}
	return all
}

// near fails the test when got is further from want than tolerance times size.
func near(t *testing.T, what string, got float32, want, size, tolerance float64) {
	t.Helper()
	if !(math.Abs(float64(got)-want) <= tolerance*(size+1e-20)) {
		t.Fatalf("%s is %v, want %v (off by %.3g of %.3g)", what, got, want, math.Abs(float64(got)-want), size)
	}
}

// normal returns n normal numbers.
func normal(r *rand.Rand, n int, scale float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(scale * r.NormFloat64())
	}
	return x
}

// blocks returns rows rows of n blocks of 32 columns of typ with random bits and scales of
// normal size, at an address that is even and otherwise arbitrary, as in a file.
func blocks(r *rand.Rand, typ quant.Type, rows, n int) []byte {
	columns, size := typ.Block()
	skip := 2 * r.IntN(32)
	w := make([]byte, skip+rows*n*Block/columns*size)[skip:]
	for i := range w {
		w[i] = byte(r.Uint32())
	}
	for b := 0; b < len(w); b += size {
		put := func(at int, v float64) {
			h := quant.FloatToHalf(float32(v))
			w[b+at], w[b+at+1] = byte(h), byte(h>>8)
		}
		switch typ {
		case quant.Q6_K:
			put(208, 0.001*r.NormFloat64())
			continue
		case quant.Q4_1, quant.Q4_K, quant.Q5_K:
			put(2, 0.05*r.NormFloat64())
		}
		put(0, 0.01*r.NormFloat64())
	}
	return w
}

// whole returns the next larger number of blocks that f takes.
func whole(f Format, blocks int) int {
	n := f.Columns / Block
	return (blocks + n - 1) / n * n
}

// panel quantizes random activations with the twin.
func panel(r *rand.Rand, tokens, nb int) *Panel {
	p := NewPanel(Aligned, tokens, nb*Block)
	p.Shape(tokens, nb*Block)
	for t := range tokens {
		quantize(p, t, 0, normal(r, nb*Block, math.Exp(3*r.NormFloat64())))
	}
	return p
}

// product returns the float64 product of a row of typ with token t of p, and
// the sum of its terms' magnitudes.
func product(t *testing.T, typ quant.Type, row []byte, p *Panel, tok int) (sum, size float64) {
	t.Helper()
	w := make([]float32, p.Blocks*Block)
	if err := quant.Dequantize(w, typ, row); err != nil {
		t.Fatal(err)
	}
	for k, v := range w {
		i := k/Block*p.Tokens + tok
		x := float64(v) * float64(p.Scale[i]) * float64(p.Q[i*Block+k%Block])
		sum += x
		size += math.Abs(x)
	}
	return sum, size
}

func TestQuantize(t *testing.T) {
	for _, s := range sets(t) {
		t.Run(s.Name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			for range 200 {
				tokens, nb := 1+r.IntN(5), 1+r.IntN(9)
				p, twin := NewPanel(Aligned, tokens, nb*Block), NewPanel(Aligned, tokens, nb*Block)
				p.Shape(tokens, nb*Block)
				twin.Shape(tokens, nb*Block)
				for tok := range tokens {
					x := normal(r, nb*Block, math.Exp(20*r.Float64()-10))
					if r.IntN(4) == 0 {
						clear(x[:Block])
					}
					first := r.IntN(nb)
					for _, q := range []struct {
						p *Panel
						f func(*Panel, int, int, []float32)
					}{{p, s.Quantize}, {twin, quantize}} {
						q.f(q.p, tok, first, x[first*Block:])
						q.f(q.p, tok, 0, x[:first*Block])
					}
					for k, v := range x {
						i := k/Block*tokens + tok
						// Half a step of the block's scale, and the rounding of x/scale.
						near(t, "value", p.Scale[i]*float32(p.Q[i*Block+k%Block]), float64(v), float64(p.Scale[i]), 0.51)
					}
				}
				for i := range p.Scale {
					near(t, "scale", p.Scale[i], float64(twin.Scale[i]), float64(twin.Scale[i]), 3e-7)
					var sum float64
					for j, q := range p.Q[i*Block : (i+1)*Block] {
						sum += float64(q)
						if d := int(q) - int(twin.Q[i*Block+j]); d < -1 || d > 1 {
							t.Fatalf("q %d, twin %d", q, twin.Q[i*Block+j])
						}
					}
					near(t, "sum", p.Sum[i], sum*float64(p.Scale[i]), math.Abs(sum)*float64(p.Scale[i]), 1e-6)
				}
			}
		})
	}
}

// Values that are not finite reach the scale, so that no product hides them.
func TestQuantizeNotFinite(t *testing.T) {
	for _, s := range sets(t) {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			for at := range 2 * Block {
				x := make([]float32, 2*Block)
				x[at] = float32(bad)
				p := NewPanel(Aligned, 1, 2*Block)
				p.Shape(1, 2*Block)
				s.Quantize(p, 0, 0, x)
				if sc := float64(p.Scale[at/Block]); !math.IsNaN(sc) && !math.IsInf(sc, 0) {
					t.Fatalf("%s: the scale of a block with %v at %d is %v", s.Name, bad, at, sc)
				}
				if sc := p.Scale[1-at/Block]; sc != float32(tiny)/most16 && sc != float32(tiny/most16) {
					t.Fatalf("%s: the scale of a block of zeros is %v", s.Name, sc)
				}
			}
		}
	}
}

func TestMul(t *testing.T) {
	for _, s := range sets(t) {
		for typ, f := range s.Formats {
			t.Run(fmt.Sprint(s.Name, " ", typ), func(t *testing.T) {
				r := rand.New(rand.NewPCG(3, uint64(typ)))
				for range 60 {
					rows, nb := 1+r.IntN(23), whole(f, 1+r.IntN(50))
					size := f.RowBytes(nb * Block)
					w, p := blocks(r, typ, rows, nb), panel(r, 1, nb)
					add := r.IntN(2) == 0
					old := normal(r, rows+1, 1)
					dst := slices.Clone(old)
					f.Mul(dst, w, p, rows, add)
					for i := range rows {
						want, mag := product(t, typ, w[i*size:(i+1)*size], p, 0)
						if add {
							want += float64(old[i])
						}
						near(t, fmt.Sprintf("row %d of %d x %d blocks", i, rows, nb), dst[i], want, mag+1, 1e-6)
					}
					if dst[rows] != old[rows] {
						t.Fatal("wrote past the last row")
					}
				}
			})
		}
	}
}

func TestPack(t *testing.T) {
	for _, s := range sets(t) {
		r := rand.New(rand.NewPCG(5, 6))
		twins := generic().Formats
		for range 30 {
			n := 1 + r.IntN(12)
			for typ, f := range s.Formats {
				nb := whole(f, n)
				src := blocks(r, typ, TileRows, nb)
				want := make([]byte, TileRows*f.TileBytes(nb*Block))
				got := make([]byte, len(want)+8)
				f.Pack(got, src, nb)
				twins[typ].Pack(want, src, nb)
				if !slices.Equal(got[:len(want)], want) {
					t.Fatalf("%s: %v with %d blocks is packed in another order than the twin's", s.Name, typ, nb)
				}
				if !slices.Equal(got[len(want):], make([]byte, 8)) {
					t.Fatalf("%s: %v with %d blocks: wrote past the end", s.Name, typ, nb)
				}
			}
		}
	}
}

// What is packed while it is multiplied is multiplied as what was packed before.
func TestPackTile(t *testing.T) {
	for _, s := range sets(t) {
		for typ, f := range s.Formats {
			if f.PackTile == nil {
				continue
			}
			t.Run(fmt.Sprint(s.Name, " ", typ), func(t *testing.T) {
				r := rand.New(rand.NewPCG(8, uint64(typ)))
				for range 40 {
					nb, tokens, stride := whole(f, 1+r.IntN(20)), 1+r.IntN(19), TileRows+r.IntN(5)
					w, p, add := blocks(r, typ, TileRows, nb), panel(r, tokens, nb), r.IntN(2) == 0
					tiles, room := make([]byte, TileRows*f.TileBytes(nb*Block)), make([]byte, TileRows*f.TileBytes(nb*Block))
					generic().Formats[typ].Pack(tiles, w, nb)
					want := normal(r, stride*tokens, 1)
					got := slices.Clone(want)
					generic().Formats[typ].Tile(want, stride, tiles, p, TileRows, add, Aligned(tokens*TileRows), nil)
					f.PackTile(got, stride, w, room, p, add, Aligned(tokens*TileRows), w[r.IntN(len(w)+1):])
					for i := range got {
						row := i % stride
						if row >= TileRows {
							if got[i] != want[i] {
								t.Fatal("wrote between the rows")
							}
							continue
						}
						_, mag := product(t, typ, w[row*f.RowBytes(nb*Block):(row+1)*f.RowBytes(nb*Block)], p, i/stride)
						if math.Abs(float64(got[i]-want[i])) > 1e-6*(mag+math.Abs(float64(want[i]))) {
							t.Fatalf("%d blocks, token %d of %d, row %d: %g, want %g", nb, i/stride, tokens, row, got[i], want[i])
						}
					}
				}
			})
		}
	}
}

func TestTile(t *testing.T) {
	for _, s := range sets(t) {
		for typ, f := range s.Formats {
			t.Run(fmt.Sprint(s.Name, " ", typ), func(t *testing.T) {
				r := rand.New(rand.NewPCG(7, uint64(typ)))
				pack := generic().Formats[typ].Pack
				for range 40 {
					rows, nb, tokens := TileRows*(1+r.IntN(3)), whole(f, 1+r.IntN(20)), 1+r.IntN(19)
					w, p := blocks(r, typ, rows, nb), panel(r, tokens, nb)
					size := f.RowBytes(nb * Block)
					tiles := make([]byte, rows*f.TileBytes(nb*Block))
					for i := 0; i < rows; i += TileRows {
						pack(tiles[i*f.TileBytes(nb*Block):], w[i*size:], nb)
					}
					add := r.IntN(2) == 0
					stride := rows + r.IntN(5)
					old := normal(r, stride*tokens, 1)
					dst := slices.Clone(old)
					scratch := Aligned(tokens*TileRows + 8)
					f.Tile(dst, stride, tiles, p, rows, add, scratch, tiles[r.IntN(len(tiles)+1):])
					for i, got := range dst {
						tok, row := i/stride, i%stride
						if row >= rows {
							if got != old[i] {
								t.Fatal("wrote between the rows")
							}
							continue
						}
						want, mag := product(t, typ, w[row*size:(row+1)*size], p, tok)
						if add {
							want += float64(old[i])
						}
						near(t, fmt.Sprintf("row %d of %d, token %d of %d, %d blocks", row, rows, tok, tokens, nb), got, want, mag+1, 1e-6)
					}
					for _, v := range scratch[tokens*TileRows:] {
						if v != 0 {
							t.Fatal("wrote past the scratch")
						}
					}
				}
			})
		}
	}
}

func TestPick(t *testing.T) {
	for _, name := range append([]string{""}, Names()...) {
		s, err := Pick(name)
		if err != nil || name != "" && s.Name != name || name == "" && s.Name != Names()[0] {
			t.Errorf("Pick(%q) = %v, %v", name, s, err)
		}
	}
	if _, err := Pick("sse9"); err == nil || !strings.Contains(err.Error(), `"sse9"`) || !strings.Contains(err.Error(), "generic") {
		t.Errorf("an unknown name: %v", err)
	}
}

// Every set has kernels for the same types, and they are those that people download.
func TestFormats(t *testing.T) {
	want := []quant.Type{quant.Q4_0, quant.Q4_1, quant.Q5_0, quant.Q8_0, quant.Q4_K, quant.Q5_K, quant.Q6_K, quant.IQ4_NL}
	for _, s := range sets(t) {
		for _, typ := range want {
			f, ok := s.Formats[typ]
			columns, size := typ.Block()
			if !ok || f.Columns != columns || f.Row != size {
				t.Errorf("%s: %v stands for %d columns in %d bytes; want %d in %d", s.Name, typ, f.Columns, f.Row, columns, size)
			}
		}
		if len(s.Formats) != len(want) {
			t.Errorf("%s: %d types; want %d", s.Name, len(s.Formats), len(want))
		}
	}
}

// A scale that is not finite reaches the row that it stands in, and no other row.
func TestScalesNotFinite(t *testing.T) {
	scales := map[quant.Type][]int{quant.Q4_1: {0, 2}, quant.Q4_K: {0, 2}, quant.Q5_K: {0, 2}, quant.Q6_K: {208}}
	for _, s := range sets(t) {
		for typ, f := range s.Formats {
			places := scales[typ]
			if places == nil {
				places = []int{0}
			}
			r := rand.New(rand.NewPCG(11, uint64(typ)))
			const rows, blocks32 = TileRows, 16
			for _, place := range places {
				for _, bad := range []uint16{0x7e00, 0x7c00, 0xfc00} { // NaN and the infinities
					w, p, many := blocks(r, typ, rows, blocks32), panel(r, 1, blocks32), panel(r, 5, blocks32)
					row, size := r.IntN(rows), f.RowBytes(blocks32*Block)
					at := row*size + r.IntN(blocks32*Block/f.Columns)*f.Row + place
					w[at], w[at+1] = byte(bad), byte(bad>>8)
					one, all := make([]float32, rows), make([]float32, 5*rows)
					f.Mul(one, w, p, rows, false)
					tiles := make([]byte, rows*f.TileBytes(blocks32*Block))
					f.Pack(tiles, w, blocks32)
					f.Tile(all, rows, tiles, many, rows, false, Aligned(5*TileRows), nil)
					for i, v := range append(one, all...) {
						if finite := !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0); finite != (i%rows != row) {
							t.Fatalf("%s %v: with %#04x at byte %d of a block of row %d, row %d is %v", s.Name, typ, bad, place, row, i%rows, v)
						}
					}
				}
			}
		}
	}
}
