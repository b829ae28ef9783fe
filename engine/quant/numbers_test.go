package quant

import (
	"math"
	"testing"
)

// halfValue is the definition of binary16 in IEEE 754-2008, 3.4, for numbers
// that are not NaN.
func halfValue(h uint16) float64 {
	sign := 1.0
	if h>>15 == 1 {
		sign = -1
	}
	exp, man := int(h>>10&31), float64(h&1023)
	switch exp {
	case 0:
		return sign * math.Ldexp(man, -24)
	case 31:
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+man, exp-25)
}

func isNaN(h uint16) bool { return h&0x7fff > 0x7c00 }

func TestHalfToFloat(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		got := HalfToFloat(h)
		if isNaN(h) {
			if got == got {
				t.Errorf("HalfToFloat(%#04x) = %v, want NaN", h, got)
			}
			continue
		}
		if want := halfValue(h); float64(got) != want || math.Signbit(float64(got)) != math.Signbit(want) {
			t.Errorf("HalfToFloat(%#04x) = %v, want %v", h, got, want)
		}
	}
}

// TestFloatToHalf: every half comes back; halfway between two neighbours the
// even one is chosen, and the nearer one a hair to either side.
func TestFloatToHalf(t *testing.T) {
	check := func(f float32, want uint16) {
		t.Helper()
		if got := FloatToHalf(f); got != want {
			t.Errorf("FloatToHalf(%v) = %#04x, want %#04x", f, got, want)
		}
	}
	for h := uint16(0); h < 0x7c00; h++ {
		a, b := halfValue(h), halfValue(h+1)
		if h+1 == 0x7c00 {
			b = 65536 // infinity is chosen as if it were the next number
		}
		check(float32(a), h)
		check(float32(-a), h|0x8000)
		mid := float32((a + b) / 2)
		even := h + h&1
		check(mid, even)
		check(-mid, even|0x8000)
		check(math.Nextafter32(mid, 0), h)
		check(math.Nextafter32(mid, 1e9), h+1)
	}
	check(float32(math.Inf(1)), 0x7c00)
	check(float32(math.Inf(-1)), 0xfc00)
	check(math.MaxFloat32, 0x7c00)
	check(math.SmallestNonzeroFloat32, 0)
	for _, bits := range []uint32{0x7f800001, 0x7fc00000, 0xffffffff, 0xff800001} {
		if h := FloatToHalf(math.Float32frombits(bits)); !isNaN(h) || h>>15 != uint16(bits>>31) {
			t.Errorf("FloatToHalf of NaN %08x = %#04x", bits, h)
		}
	}
}
