package ir

import (
	"fmt"
	"math/bits"
	"strconv"
)

// Layout returns the bytes an array element of type t takes and t's alignment,
// by the rules x86-64 and AArch64 Linux and macOS share.
func (m *Module) Layout(t *Type) (size, align int64, err error) {
	return m.layoutAt(t, 0)
}

func (m *Module) layoutAt(t *Type, depth int) (size, align int64, err error) {
	if depth > maxTypeDepth {
		return 0, 0, fmt.Errorf("type %s contains itself", t)
	}
	switch t.Kind {
	case Int:
		if t.Bits > 128 {
			return 0, 0, fmt.Errorf("integer type %s", t)
		}
		n := int64(1)
		for n*8 < int64(t.Bits) {
			n *= 2
		}
		return n, n, nil
	case Float, Pointer:
		return int64(t.Bits / 8), int64(t.Bits / 8), nil
	case Vector:
		b := int64(t.N) * int64(t.Elem.Bits)
		n := int64(1) << bits.Len64(uint64((b+7)/8-1))
		return n, n, nil
	case Array:
		s, a, err := m.layoutAt(t.Elem, depth+1)
		if err == nil && s > 0 && int64(t.N) > (1<<40)/s {
			err = fmt.Errorf("type %s is too large", t)
		}
		return s * int64(t.N), a, err
	case Struct:
		align = 1
		for i := range t.Fields {
			off, a, err := m.fieldAt(t, i, depth)
			if err != nil {
				return 0, 0, err
			}
			s, _, err := m.layoutAt(t.Fields[i], depth+1)
			if err != nil {
				return 0, 0, err
			}
			size, align = off+s, max(align, a)
		}
		return RoundUp(size, align), align, nil
	case Named:
		d, ok := m.types[t.Text[1:]]
		if !ok {
			return 0, 0, fmt.Errorf("type %s has no known layout", t)
		}
		return m.layoutAt(d, depth+1)
	}
	return 0, 0, fmt.Errorf("type %s has no size", t)
}

// fieldAt returns the offset and alignment of field i of a struct.
func (m *Module) fieldAt(t *Type, i, depth int) (off, align int64, err error) {
	for k := 0; ; k++ {
		s, a, err := m.layoutAt(t.Fields[k], depth+1)
		if err != nil {
			return 0, 0, err
		}
		if t.packed {
			a = 1
		}
		off = RoundUp(off, a)
		if k == i {
			return off, a, nil
		}
		off += s
		if off > 1<<40 {
			return 0, 0, fmt.Errorf("type %s is too large", t)
		}
	}
}

// RoundUp is the least multiple of to that is not below n.
func RoundUp(n, to int64) int64 { return (n + to - 1) / to * to }

// Index is an index of a getelementptr: each counts Stride bytes. That of a
// struct's member is the member's Offset instead.
type Index struct {
	*Operand
	Stride, Offset int64
	Member         bool
}

// AddressIndices takes the indices of a getelementptr apart.
func (m *Module) AddressIndices(in *Inst) ([]Index, error) {
	out := make([]Index, len(in.Args)-1)
	t := in.Elem
	for i := range out {
		x := &out[i]
		x.Operand = &in.Args[i+1]
		t = m.resolve(t)
		var err error
		switch {
		case i > 0 && t.Kind == Struct:
			k, bad := strconv.Atoi(x.Text)
			if bad != nil || k < 0 || k >= len(t.Fields) {
				return nil, fmt.Errorf("no member %q in %s", x.Text, t)
			}
			x.Member = true
			if x.Offset, _, err = m.fieldAt(t, k, 0); err != nil {
				return nil, err
			}
			t = t.Fields[k]
			continue
		case i > 0 && (t.Kind == Array || t.Kind == Vector):
			t = t.Elem
		case i > 0:
			return nil, fmt.Errorf("type %s has no elements", t)
		}
		if x.Stride, _, err = m.Layout(t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// resolve returns the struct a named type stands for, or t itself.
func (m *Module) resolve(t *Type) *Type {
	if t.Kind == Named {
		if d := m.types[t.Text[1:]]; d != nil {
			return d
		}
	}
	return t
}
