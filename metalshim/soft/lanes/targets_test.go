package lanes

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// oneLaneFor is oneLane for another target than this machine.
func oneLaneFor(t *testing.T, src string, target ...string) string {
	t.Helper()
	h, err := os.ReadFile("testdata/kernel.h")
	if err != nil {
		t.Fatal(err)
	}
	args := slices.DeleteFunc(slices.Clone(languageFlags), func(s string) bool { return strings.HasPrefix(s, "-march=") })
	args = append(append(append(args, target...), LaneFlags...), "-", "-o", "-")
	return string(clangRun(t, Header+string(h)+src, args...))
}

// TestOtherTargets compiles kernels for processors that are not here. That what
// is made uses nothing of one processor is all that can be shown of them.
func TestOtherTargets(t *testing.T) {
	sources := map[string]string{"operations": opsKernel, "arithmetic": arithmeticKernel}
	for _, c := range divergence {
		switch c.name {
		case "nested", "switch", "barrier_in_uniform_loop":
			sources[c.name] = c.src
		}
	}
	for _, target := range []string{"aarch64-linux-gnu", "arm64-apple-macos13", "x86_64-apple-macos13"} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			if !targetKnown(t, target) {
				t.Skipf("SKIP: needs a clang with target %s", target)
			}
			for name, src := range sources {
				ir := oneLaneFor(t, src, "--target="+target)
				for _, o := range []Options{{Scalar: true}, {}} {
					out, err := Transform(ir, o)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if m := regexp.MustCompile(`@llvm\.(x86|aarch64)\.\w+`).FindString(out); m != "" {
						t.Errorf("%s: the text calls %s", name, m)
					}
					args := []string{"--target=" + target, "-c", "-o", filepath.Join(t.TempDir(), "k.o")}
					clangRun(t, out, append(append(args, Flags...), "-")...)
				}
			}
		})
	}
}

func targetKnown(t *testing.T, target string) bool {
	arch, _, _ := strings.Cut(strings.Replace(target, "arm64", "aarch64", 1), "-")
	return strings.Contains(strings.ReplaceAll(string(clangRun(t, "", "--print-targets")), "x86-64", "x86_64"), arch)
}

// TestOlderProcessor runs arithmetic as a processor without AVX-512 does it,
// rounding to bfloat without an instruction for it included.
func TestOlderProcessor(t *testing.T) {
	if !strings.Contains(string(clangRun(t, "", "-print-target-triple")), "x86_64") {
		t.Skip("SKIP: needs an x86-64 processor")
	}
	for _, o := range []Options{{Scalar: true}, {}} {
		p := build(t, oneLaneFor(t, arithmeticKernel, "-march=x86-64-v3"), o, "-march=x86-64-v3")
		checkArithmetic(t, p)
	}
}
