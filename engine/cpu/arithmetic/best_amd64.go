package arithmetic

import "golang.org/x/sys/cpu"

//go:noescape
func multiplyAddAVX512(x *float32, a *[factors]float32, b float32, turns int)

//go:noescape
func multiplyAddAVX2(x *float32, a *[factors]float32, b float32, turns int)

// supported are the assembly's ways that this machine can use, the widest first.
func supported() []multiplier {
	var all []multiplier
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ {
		all = append(all, multiplier{"avx512", 256, multiplyAddAVX512})
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		all = append(all, multiplier{"avx2", 96, multiplyAddAVX2})
	}
	return all
}
