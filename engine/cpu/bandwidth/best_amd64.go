package bandwidth

import "golang.org/x/sys/cpu"

//go:noescape
func readAVX512(p *byte, n int) uint64

//go:noescape
func readAVX2(p *byte, n int) uint64

// best returns the widest reader of this machine and its name.
func best() (string, func(p *byte, n int) uint64) {
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ:
		return "avx512", readAVX512
	case cpu.X86.HasAVX2:
		return "avx2", readAVX2
	}
	return "generic", readGeneric
}
