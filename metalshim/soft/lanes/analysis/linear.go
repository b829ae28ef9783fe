package analysis

import (
	"fmt"
	"maps"
	"sort"
	"strconv"
	"strings"

	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// Linear is an address or a 64-bit number as a sum: terms by how often they
// count, plus a constant.
type Linear struct {
	terms map[string]int64
	K     int64
}

// maxTerms and maxLinearDepth bound the work on one address.
const (
	maxTerms       = 12
	maxLinearDepth = 24
)

// Key names the sum without its constant.
func (l Linear) Key() string {
	var t []string
	for n, k := range l.terms {
		if k != 0 {
			t = append(t, fmt.Sprintf("%d*%s", k, n))
		}
	}
	sort.Strings(t)
	return strings.Join(t, "+")
}

func term(n string) Linear { return Linear{terms: map[string]int64{n: 1}} }

// plus returns l + k*m.
func (l Linear) plus(m Linear, k int64) Linear {
	r := Linear{terms: map[string]int64{}, K: l.K + k*m.K}
	maps.Copy(r.terms, l.terms)
	for n, c := range m.terms {
		r.terms[n] += k * c
	}
	return r
}

// LinearOf takes apart how a value is computed, as far as it is a sum that does
// not wrap where it is extended.
func (a *Divergence) LinearOf(o ir.Operand) Linear { return a.linearAt(o, 0) }

func (a *Divergence) linearAt(o ir.Operand, depth int) Linear {
	if o.Local == "" {
		if k, err := strconv.ParseInt(o.Text, 10, 64); err == nil && o.Type.Kind == ir.Int {
			return Linear{K: k}
		}
		return term("=" + o.Text)
	}
	d := a.Defs[o.Local]
	if d == nil || depth > maxLinearDepth {
		return term(o.Local)
	}
	sub := func(i int) Linear { return a.linearAt(d.Args[i], depth+1) }
	var r Linear
	switch {
	case d.Op == "add" && (d.Type.Bits == 64 || d.HasFlag("nuw") || d.HasFlag("nsw")), d.Op == "or" && d.HasFlag("disjoint"):
		r = sub(0).plus(sub(1), 1)
	case d.Op == "sub" && d.Type.Bits == 64:
		r = sub(0).plus(sub(1), -1)
	case d.Op == "shl" && d.Type.Bits == 64:
		k, err := strconv.ParseUint(d.Args[1].Text, 10, 6)
		if err != nil || k > 32 {
			return term(o.Local)
		}
		r = Linear{}.plus(sub(0), 1<<k)
	case d.Op == "mul" && d.Type.Bits == 64:
		k, err := strconv.ParseInt(d.Args[1].Text, 10, 33)
		if err != nil {
			return term(o.Local)
		}
		r = Linear{}.plus(sub(0), k)
	case (d.Op == "zext" || d.Op == "sext") && d.Type.Bits == 64:
		r = a.extended(d)
	case d.Op == "getelementptr" && d.Type.Kind == ir.Pointer:
		var ok bool
		if r, ok = a.linearAddress(d, depth); !ok {
			return term(o.Local)
		}
	default:
		return term(o.Local)
	}
	if len(r.terms) > maxTerms || r.K > 1<<40 || r.K < -1<<40 {
		return term(o.Local)
	}
	return r
}

// extended splits a constant off below an extension: ext(x + c) is ext(x) + c
// when the sum does not wrap in the way the extension reads it.
func (a *Divergence) extended(d *ir.Inst) Linear {
	whole := term(d.Res)
	s := a.Defs[d.Args[0].Local]
	if s == nil || len(s.Args) != 2 {
		return whole
	}
	k, err := strconv.ParseInt(s.Args[1].Text, 10, 64)
	wraps := s.Op == "add" && !(d.Op == "zext" && s.HasFlag("nuw") || d.Op == "sext" && s.HasFlag("nsw"))
	if err != nil || wraps || s.Op != "add" && !(s.Op == "or" && s.HasFlag("disjoint")) || k < 0 {
		return whole
	}
	n := s.Args[0].Local
	if n == "" {
		return whole
	}
	return Linear{terms: map[string]int64{d.Op + " " + n: 1}, K: k}
}

// linearAddress takes apart a getelementptr.
func (a *Divergence) linearAddress(d *ir.Inst, depth int) (Linear, bool) {
	r := a.linearAt(d.Args[0], depth+1)
	indices, err := a.f.Module.AddressIndices(d)
	if err != nil {
		return r, false
	}
	for _, i := range indices {
		switch {
		case i.Member:
			r.K += i.Offset
			continue
		case i.Stride > 1<<20:
			return r, false
		case i.Local != "" && i.Type.Bits != 64:
			r = r.plus(term(fmt.Sprintf("sext %s", i.Local)), i.Stride)
			continue
		}
		x := a.linearAt(*i.Operand, depth+1)
		if x.K > 1<<40/max(i.Stride, 1) || x.K < -1<<40/max(i.Stride, 1) {
			return r, false
		}
		r = r.plus(x, i.Stride)
	}
	return r, true
}
