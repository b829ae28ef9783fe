package lanes

import (
	"fmt"
	"math/bits"
)

// layout returns the bytes an array element of type t takes and t's alignment,
// by the rules x86-64 and AArch64 Linux and macOS share.
func (m *module) layout(t *typ) (size, align int64, err error) {
	return m.layoutAt(t, 0)
}

func (m *module) layoutAt(t *typ, depth int) (size, align int64, err error) {
	if depth > maxTypeDepth {
		return 0, 0, fmt.Errorf("type %s contains itself", t)
	}
	switch t.kind {
	case kInt:
		if t.bits > 128 {
			return 0, 0, fmt.Errorf("integer type %s", t)
		}
		n := int64(1)
		for n*8 < int64(t.bits) {
			n *= 2
		}
		return n, n, nil
	case kFloat, kPtr:
		return int64(t.bits / 8), int64(t.bits / 8), nil
	case kVec:
		b := int64(t.n) * int64(t.elem.bits)
		n := int64(1) << bits.Len64(uint64((b+7)/8-1))
		return n, n, nil
	case kArray:
		s, a, err := m.layoutAt(t.elem, depth+1)
		if err == nil && s > 0 && int64(t.n) > (1<<40)/s {
			err = fmt.Errorf("type %s is too large", t)
		}
		return s * int64(t.n), a, err
	case kStruct:
		align = 1
		for i := range t.fields {
			off, a, err := m.fieldAt(t, i, depth)
			if err != nil {
				return 0, 0, err
			}
			s, _, err := m.layoutAt(t.fields[i], depth+1)
			if err != nil {
				return 0, 0, err
			}
			size, align = off+s, max(align, a)
		}
		return roundUp(size, align), align, nil
	case kNamed:
		d, ok := m.types[t.text[1:]]
		if !ok {
			return 0, 0, fmt.Errorf("type %s has no known layout", t)
		}
		return m.layoutAt(d, depth+1)
	}
	return 0, 0, fmt.Errorf("type %s has no size", t)
}

// fieldAt returns the offset and alignment of field i of a struct.
func (m *module) fieldAt(t *typ, i, depth int) (off, align int64, err error) {
	for k := 0; ; k++ {
		s, a, err := m.layoutAt(t.fields[k], depth+1)
		if err != nil {
			return 0, 0, err
		}
		if t.packed {
			a = 1
		}
		off = roundUp(off, a)
		if k == i {
			return off, a, nil
		}
		off += s
		if off > 1<<40 {
			return 0, 0, fmt.Errorf("type %s is too large", t)
		}
	}
}

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }

// resolve returns the struct a named type stands for, or t itself.
func (m *module) resolve(t *typ) *typ {
	if t.kind == kNamed {
		if d := m.types[t.text[1:]]; d != nil {
			return d
		}
	}
	return t
}
