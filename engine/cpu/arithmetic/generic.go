package arithmetic

import "unsafe"

// generic is the way of machines that no other one fits.
func generic() multiplier { return multiplier{"generic", factors, multiplyAddGeneric} }

// multiplyAddGeneric is the twin of the assembly, for factors lanes. The product is
// rounded before it is added, where the assembly rounds once. Each lane has a factor
// of its own, since the compiler would compute a common product once for all of
// them.
func multiplyAddGeneric(x *float32, a *[factors]float32, b float32, turns int) {
	s := (*[factors]float32)(unsafe.Pointer(x))
	s0, s1, s2, s3, s4, s5, s6, s7 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
	for range turns {
		s0 += float32(a[0] * b)
		s1 += float32(a[1] * b)
		s2 += float32(a[2] * b)
		s3 += float32(a[3] * b)
		s4 += float32(a[4] * b)
		s5 += float32(a[5] * b)
		s6 += float32(a[6] * b)
		s7 += float32(a[7] * b)
	}
	*s = [factors]float32{s0, s1, s2, s3, s4, s5, s6, s7}
}

// best is the widest way of this machine.
func best() multiplier { return append(supported(), generic())[0] }
