package soft

import "runtime"

// The same kernel gives the same results on every processor of an architecture.
// So a library, and a kernel for one lane, are compiled for a fixed processor;
// the lanes pass then settles what the math mode left open; and only after that
// the code is generated for the processor at hand, with what would compute
// otherwise switched off: arithmetic on half that no other processor has, and
// roundings to bfloat that flush denormal numbers.

// laneTarget are clang's arguments for code of one lane.
func laneTarget() []string {
	if runtime.GOARCH == "arm64" {
		return []string{"-mcpu=generic"}
	}
	return []string{"-march=x86-64-v3"}
}

// unequal are the features that are switched off, by architecture.
var unequal = map[string][]string{
	"amd64": {"avx512fp16", "avx512bf16", "avxneconvert"},
	"arm64": {"fullfp16", "fp16fml", "bf16"},
}

// target are clang's arguments that choose the processor that runs the code:
// this one, or the named one.
func (d *Device) target() []string {
	name := d.o.Processor
	if name == "" {
		name = "native"
	}
	args := []string{"-march=" + name}
	if runtime.GOARCH == "arm64" {
		args = []string{"-mcpu=" + name, "-mno-outline-atomics"}
	}
	for _, f := range unequal[runtime.GOARCH] {
		args = append(args, "-Xclang", "-target-feature", "-Xclang", "-"+f)
	}
	return args
}
