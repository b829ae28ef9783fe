package lanes

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// linear is an address or a 64-bit number as a sum: terms by how often they
// count, plus a constant.
type linear struct {
	terms map[string]int64
	k     int64
}

// maxTerms and maxLinearDepth bound the work on one address.
const (
	maxTerms       = 12
	maxLinearDepth = 24
)

// key names the sum without its constant.
func (l linear) key() string {
	var t []string
	for n, k := range l.terms {
		if k != 0 {
			t = append(t, fmt.Sprintf("%d*%s", k, n))
		}
	}
	sort.Strings(t)
	return strings.Join(t, "+")
}

func term(n string) linear { return linear{terms: map[string]int64{n: 1}} }

// plus returns l + k*m.
func (l linear) plus(m linear, k int64) linear {
	r := linear{terms: map[string]int64{}, k: l.k + k*m.k}
	for n, c := range l.terms {
		r.terms[n] = c
	}
	for n, c := range m.terms {
		r.terms[n] += k * c
	}
	return r
}

// linearOf takes apart how a value is computed, as far as it is a sum that does
// not wrap where it is extended.
func (a *analysis) linearOf(o operand, depth int) linear {
	if o.local == "" {
		if k, err := strconv.ParseInt(o.text, 10, 64); err == nil && o.typ.kind == kInt {
			return linear{k: k}
		}
		return term("=" + o.text)
	}
	d := a.defs[o.local]
	if d == nil || depth > maxLinearDepth {
		return term(o.local)
	}
	sub := func(i int) linear { return a.linearOf(d.args[i], depth+1) }
	var r linear
	switch {
	case d.op == "add" && (d.typ.bits == 64 || d.hasFlag("nuw") || d.hasFlag("nsw")), d.op == "or" && d.hasFlag("disjoint"):
		r = sub(0).plus(sub(1), 1)
	case d.op == "sub" && d.typ.bits == 64:
		r = sub(0).plus(sub(1), -1)
	case d.op == "shl" && d.typ.bits == 64:
		k, err := strconv.ParseUint(d.args[1].text, 10, 6)
		if err != nil || k > 32 {
			return term(o.local)
		}
		r = linear{}.plus(sub(0), 1<<k)
	case d.op == "mul" && d.typ.bits == 64:
		k, err := strconv.ParseInt(d.args[1].text, 10, 33)
		if err != nil {
			return term(o.local)
		}
		r = linear{}.plus(sub(0), k)
	case (d.op == "zext" || d.op == "sext") && d.typ.bits == 64:
		r = a.extended(d)
	case d.op == "getelementptr" && d.typ.kind == kPtr:
		var ok bool
		if r, ok = a.linearAddress(d, depth); !ok {
			return term(o.local)
		}
	default:
		return term(o.local)
	}
	if len(r.terms) > maxTerms || r.k > 1<<40 || r.k < -1<<40 {
		return term(o.local)
	}
	return r
}

// extended splits a constant off below an extension: ext(x + c) is ext(x) + c
// when the sum does not wrap in the way the extension reads it.
func (a *analysis) extended(d *inst) linear {
	whole := term(d.res)
	s := a.defs[d.args[0].local]
	if s == nil || len(s.args) != 2 {
		return whole
	}
	k, err := strconv.ParseInt(s.args[1].text, 10, 64)
	wraps := s.op == "add" && !(d.op == "zext" && s.hasFlag("nuw") || d.op == "sext" && s.hasFlag("nsw"))
	if err != nil || wraps || s.op != "add" && !(s.op == "or" && s.hasFlag("disjoint")) || k < 0 {
		return whole
	}
	n := s.args[0].local
	if n == "" {
		return whole
	}
	return linear{terms: map[string]int64{d.op + " " + n: 1}, k: k}
}

// linearAddress takes apart a getelementptr.
func (a *analysis) linearAddress(d *inst, depth int) (linear, bool) {
	r := a.linearOf(d.args[0], depth+1)
	t := d.elem
	for i, o := range d.args[1:] {
		t = a.f.mod.resolve(t)
		if i > 0 {
			switch {
			case t.kind == kStruct:
				k, err := strconv.Atoi(o.text)
				if err != nil || k < 0 || k >= len(t.fields) {
					return r, false
				}
				off, _, err := a.f.mod.fieldAt(t, k, 0)
				if err != nil {
					return r, false
				}
				r.k += off
				t = t.fields[k]
				continue
			case t.kind == kArray || t.kind == kVec:
				t = t.elem
			default:
				return r, false
			}
		}
		size, _, err := a.f.mod.layout(t)
		if err != nil || size > 1<<20 {
			return r, false
		}
		if o.local != "" && o.typ.bits != 64 {
			r = r.plus(term(fmt.Sprintf("sext %s", o.local)), size)
			continue
		}
		x := a.linearOf(o, depth+1)
		if x.k > 1<<40/max(size, 1) || x.k < -1<<40/max(size, 1) {
			return r, false
		}
		r = r.plus(x, size)
	}
	return r, true
}
