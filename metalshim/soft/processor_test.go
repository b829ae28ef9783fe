package soft

import (
	"context"
	"regexp"
	"runtime"
	"slices"
	"testing"
)

// roundings is arithmetic on half and a rounding to bfloat, which some processors
// have instructions for that give other results.
const roundings = `define half @add(half %a, half %b) {
  %c = fadd half %a, %b
  ret half %c
}
define <16 x bfloat> @round(<16 x float> %a) {
  %c = fptrunc <16 x float> %a to <16 x bfloat>
  ret <16 x bfloat> %c
}
`

// TestEqualised compiles for processors that are not here, as -march=native names
// what one has: none may use an instruction that another one has not, and that
// computes otherwise. AVX10 is the name for all of AVX-512 together.
func TestEqualised(t *testing.T) {
	targets := map[string][][]string{
		"amd64": {{"-march=sapphirerapids"}, {"-march=graniterapids"}, {"-march=graniterapids", "-mavx10.1-512"},
			{"-march=x86-64-v3", "-mavx10.1-256"}, {"-march=znver5"}},
		"arm64": {{"-mcpu=cortex-a75"}, {"-mcpu=neoverse-v1"}, {"-mcpu=neoverse-v2"}},
	}[runtime.GOARCH]
	unlike := regexp.MustCompile(`(?m)^\s*(?:v(?:add|sub|mul)(?:sh|ph)|\{?v?cvtneps?2bf16|fadd\s+h|bfcvt)\S*.*$`)
	d := testDevice(t)
	for _, target := range targets {
		text, err := d.run(context.Background(), slices.Concat([]string{"-x", "ir", "-O2", "-Wno-override-module", "-S"}, target, equalised()), []byte(roundings))
		if err != nil {
			t.Errorf("%v: %v", target, err)
			continue
		}
		if found := unlike.Find(text); found != nil {
			t.Errorf("%v: the code has %q", target, found)
		}
		// Without it, what is looked for is there: the test sees it.
		text, err = d.run(context.Background(), slices.Concat([]string{"-x", "ir", "-O2", "-Wno-override-module", "-S"}, target), []byte(roundings))
		if err != nil || !unlike.Match(text) {
			t.Errorf("%v: nothing to be switched off was found, error %v", target, err)
		}
	}
}
