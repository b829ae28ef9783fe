package soft

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/introgen/introgen/system/machine"
)

// EnvProcessor names another processor than this one to generate code for, one
// of Processors, so that tests show here what comes out there.
const EnvProcessor = "INTROGEN_SOFT_PROCESSOR"

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

// levels are the processors, by clang's names, that differ in what they have for
// floats, and what Linux calls the features that each needs: none and multiply-adds
// and conversions of half, then 512 bits, then roundings to bfloat.
var levels = map[string][]struct{ name, needs string }{
	"amd64": {
		{"x86-64-v2", "sse4_2 ssse3 popcnt"},
		{"x86-64-v3", "avx2 fma f16c bmi1 bmi2 movbe abm"},
		{"x86-64-v4", "avx512f avx512bw avx512dq avx512cd avx512vl"},
		{"cooperlake", "avx512f avx512bw avx512dq avx512cd avx512vl avx512_vnni avx512_bf16 pku rdseed adx clflushopt clwb"},
	},
	"arm64": {{"generic", "asimd"}, {"cortex-a75", "asimdhp asimddp"}},
}

// Processors are those, other than itself, that this machine can stand for.
func Processors() []string {
	has := strings.Fields(machine.CPUInfo()["flags"] + " " + machine.CPUInfo()["Features"])
	var out []string
	for _, l := range levels[runtime.GOARCH] {
		if !slices.ContainsFunc(strings.Fields(l.needs), func(f string) bool { return !slices.Contains(has, f) }) {
			out = append(out, l.name)
		}
	}
	return out
}

// checkProcessor refuses a name that is none of Processors.
func checkProcessor(name string) error {
	if name == "" || slices.Contains(Processors(), name) {
		return nil
	}
	return fmt.Errorf("%s=%q: this machine runs code for %s", EnvProcessor, name, strings.Join(Processors(), ", "))
}

// fused says whether the processor that code is generated for multiplies and adds
// with one rounding.
func (d *Device) fused() bool {
	return runtime.GOARCH != "amd64" || d.o.Processor != "x86-64-v2" && slices.Contains(strings.Fields(machine.CPUInfo()["flags"]), "fma")
}

// unequal are the features that are switched off, by architecture.
var unequal = map[string][]string{
	"amd64": {"avx512fp16", "avx512bf16", "avxneconvert"},
	"arm64": {"fullfp16", "fp16fml", "bf16"},
}

// avx10 switches off the name for all of AVX-512 together that later processors
// have: it would bring back what is switched off by its own. The driver's own
// arguments take it out of what a processor has; clang settles it last otherwise.
var avx10 = map[string][]string{"amd64": {"-mno-avx10.1-512", "-mno-avx10.1-256"}}

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
	return append(args, equalised()...)
}

// equalised are clang's arguments that switch off what would compute otherwise.
func equalised() []string {
	args := slices.Clone(avx10[runtime.GOARCH])
	for _, f := range unequal[runtime.GOARCH] {
		args = append(args, "-Xclang", "-target-feature", "-Xclang", "-"+f)
	}
	return args
}
