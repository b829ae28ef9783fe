package kernel

import "golang.org/x/sys/cpu"

// supported returns the sets with assembly that this machine can run, best
// first. Package cpu reports AVX and AVX-512 only where the operating system
// saves their registers.
func supported() []*Set {
	var sets []*Set
	x := &cpu.X86
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512VNNI && x.HasFMA {
		sets = append(sets, avx512())
	}
	if x.HasAVX2 && x.HasFMA {
		sets = append(sets, avx2())
	}
	return sets
}
