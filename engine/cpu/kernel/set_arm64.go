package kernel

import "golang.org/x/sys/cpu"

// supported returns the sets with assembly that this machine can run, best
// first. Every arm64 processor that runs Linux or macOS has NEON.
func supported() []*Set {
	sets := []*Set{neon()}
	if cpu.ARM64.HasASIMDDP { // FEAT_DotProd, whatever package cpu calls it
		sets = append([]*Set{dotprod()}, sets...)
	}
	return sets
}
