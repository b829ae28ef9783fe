package array

import (
	"fmt"
	"math"
	"math/big"
)

// Tolerance is how far a number may be from the one that is wanted. It is near
// enough where any of them says so; of integers and bools Absolute alone counts.
type Tolerance struct {
	Absolute float64
	Relative float64 // of the wanted number's size
	ULP      float64 // steps of the got array's type at the wanted number
}

// Difference is what two arrays differ in.
type Difference struct {
	Count, Of int
	Index     []int // of the first
	Wanted    string
	Got       string
	Largest   float64 // how far numbers are apart at most; NaN and infinities are left out
	At        []int   // where that is
}

func (d *Difference) String() string {
	text := fmt.Sprintf("%d of %d differ; the first at %s: wanted %s, got %s", d.Count, d.Of, Dimensions(d.Index), d.Wanted, d.Got)
	if d.Count > 1 && d.At != nil {
		text += fmt.Sprintf("; at most by %.3g, at %s", d.Largest, Dimensions(d.At))
	}
	return text
}

// Compare holds got to wanted. nil is no difference. NaN equals NaN.
func Compare(wanted, got *Array, t Tolerance) (*Difference, error) {
	if wanted.Len() != got.Len() {
		return nil, fmt.Errorf("wanted %s, got %s: another number of elements", wanted, got)
	}
	if wanted.Type.Float() != got.Type.Float() {
		return nil, fmt.Errorf("wanted %s, got %s: only one of them is of floating-point numbers", wanted, got)
	}
	d := &Difference{Of: got.Len()}
	for i := range d.Of {
		near, by := t.near(wanted, got, i)
		if near {
			continue
		}
		if d.Count++; d.Count == 1 {
			d.Index, d.Wanted, d.Got = got.index(i), wanted.Text(i), got.Text(i)
		}
		if by > d.Largest && !math.IsInf(by, 0) {
			d.Largest, d.At = by, got.index(i)
		}
	}
	if d.Count == 0 {
		return nil, nil
	}
	return d, nil
}

func (t Tolerance) near(wanted, got *Array, i int) (near bool, by float64) {
	if !got.Type.Float() {
		by, _ = new(big.Float).Abs(new(big.Float).SetInt(new(big.Int).Sub(wanted.whole(i), got.whole(i)))).Float64()
		return by <= t.Absolute, by
	}
	w, g := wanted.Float(i), got.Float(i)
	if w == g || w != w && g != g {
		return true, 0
	}
	by = math.Abs(w - g)
	if math.IsInf(w, 0) || by != by || math.IsInf(by, 0) {
		// An infinity stands for numbers beyond the type: one that rounds to it is it.
		return math.IsInf(g, 0) && got.rounded(w) == g, by
	}
	return by <= t.Absolute || by <= t.Relative*math.Abs(w) || by <= t.ULP*got.Type.step(w), by
}

// rounded is v in the array's type.
func (a *Array) rounded(v float64) float64 {
	one := &Array{a.Type, nil, make([]byte, a.Type.Size())}
	one.SetFloat(0, v)
	return one.Float(0)
}

// step is the distance of neighbours at v.
func (t Type) step(v float64) float64 {
	mantissa, least := 23, -126
	switch t {
	case F16:
		mantissa, least = 10, -14
	case BF16:
		mantissa = 7
	case F64:
		mantissa, least = 52, -1022
	}
	_, e := math.Frexp(v)
	return math.Ldexp(1, max(e-1, least)-mantissa)
}

func (a *Array) whole(i int) *big.Int {
	switch a.Type {
	case I8, I16, I32, I64:
		return big.NewInt(a.int(i))
	}
	return new(big.Int).SetUint64(a.bits(i))
}

// index is element i's place in each dimension.
func (a *Array) index(i int) []int {
	out := make([]int, len(a.Shape))
	for k := len(out) - 1; k >= 0; k-- {
		if d := a.Shape[k]; d > 0 {
			out[k], i = i%d, i/d
		}
	}
	return out
}
