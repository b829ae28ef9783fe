package trim

import (
	"bytes"
	"context"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim/msl"
	"github.com/introgen/introgen/metalshim/soft/clang"
)

var includes = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(include|import)\b.*$`)

// expanded is what clang's preprocessor makes of a source whose compiler defines
// macros.
func expanded(t *testing.T, text string, macros ...string) string {
	t.Helper()
	tools, err := clang.Find(context.Background())
	if err != nil {
		t.Skipf("SKIP: needs clang: %v", err)
	}
	args := append(append([]string{}, tools.Compiler[1:]...), "-E", "-P", "-x", "c++", "-std=c++17", "-undef", "-w")
	for _, m := range macros {
		args = append(args, "-D"+m)
	}
	c := exec.Command(tools.Compiler[0], append(args, "-")...)
	c.Stdin = strings.NewReader(includes.ReplaceAllString(text, ""))
	var bad bytes.Buffer
	c.Stderr = &bad
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, bad.String())
	}
	return string(out)
}

// declarations are those of preprocessed text, without what stands in it as white
// space.
func declarations(t *testing.T, text string) []msl.Part {
	t.Helper()
	o, err := msl.OutlineOf(text)
	if err != nil {
		t.Fatal(err)
	}
	var out []msl.Part
	for _, g := range o.Groups {
		for _, p := range g.Parts {
			p.Text = strings.Join(strings.Fields(p.Text), "")
			out = append(out, p)
		}
	}
	return out
}

// compilers are macros of compilers that decide conditions differently.
var compilers = map[string][]string{
	"3.1": {"__METAL__=1", "__METAL_VERSION__=310", "__HAVE_BFLOAT__=1"},
	"3.0": {"__METAL__=1", "__METAL_VERSION__=300"},
	"2.0": {"__METAL_VERSION__=200"},
}

// TestCompilersSeeTheSame: whatever the compiler decides, clang's preprocessor finds
// in a trimmed source what it finds in the whole, in the same order, with all kernels
// that were asked for.
func TestCompilersSeeTheSame(t *testing.T) {
	for _, set := range sets(t) {
		for _, f := range set.Files() {
			all, err := msl.Read(f.Name, f.Text)
			if err != nil {
				t.Fatal(err)
			}
			n := len(all.Kernels)
			for name, macros := range compilers {
				whole := declarations(t, expanded(t, f.Text, macros...))
				for _, i := range []int{0, n / 3, n - 1} {
					keep := map[string]bool{all.Kernels[i].Name: true, all.Kernels[n/2].Name: true}
					text, err := Trim(f.Name, f.Text, []string{all.Kernels[i].Name, all.Kernels[n/2].Name})
					if err != nil {
						t.Fatal(err)
					}
					part := declarations(t, expanded(t, text, macros...))
					for _, p := range whole {
						if len(part) > 0 && part[0].Text == p.Text {
							part = part[1:]
						} else if keep[p.Kernel] || strings.HasPrefix(p.Text, "constant") && strings.Contains(p.Text, "[[function_constant(") {
							t.Errorf("%s for MSL %s has lost %s", f.Name, name, p.Text)
						}
					}
					if len(part) > 0 {
						t.Errorf("%s for MSL %s trimmed to %v has what the whole has not: %.300s", f.Name, name, keep, part[0].Text)
					}
				}
			}
		}
	}
}

// TestOthersSeeTheSame does so for sources that are written in other ways.
func TestOthersSeeTheSame(t *testing.T) {
	for _, c := range []struct{ name, text, keep string }{
		{"braces of the compiler's", "#ifdef __HAVE_BFLOAT__\n#define OPEN {\n#else\n#define OPEN { int z;\n#endif\nkernel void a(device int *x) OPEN }\nkernel void b(device int *x) {}", "b"},
		{"a word of the compiler's", "#ifdef __HAVE_BFLOAT__\n#define INLINE inline\n#else\n#define INLINE\n#endif\nINLINE int g() { return 1; } INLINE int h() { return 2; }\nkernel void a(device int *x) { *x = g(); }\nkernel void b(device int *x) { *x = h(); }", "b"},
		{"nothing here, something there", "#ifdef __HAVE_BFLOAT__\n#define MORE(n)\n#else\n#define MORE(n) kernel void n##_more(device int *x) {}\n#endif\nMORE(a)\nkernel void a(device int *x) {}\nMORE(b) kernel void b(device int *x) {}", "b"},
		{"a template's head of the compiler's", "#ifndef __HAVE_BFLOAT__\ntemplate <typename T>\n#endif\nint g() { return 1; }\nkernel void b(device int *x) {}", "b"},
		{"defaults", "#ifndef N\n#define N 4\n#endif\n#define K(n) kernel void n##N(device int *x) { x[0] = N; }\nK(a) K(b)\nkernel void c(device int *x) { x[0] = N; }", "c"},
		{"defined, and then no more", "#define T int\nkernel void a(device T *x) {}\n#undef T\n#define T float\nkernel void b(device T *x) {}\n#undef T\n#define BOTH(n) kernel void n##_1(device T *x) {} kernel void n##_2(device T *x) {}\n#define T half\nBOTH(c)\n#undef T", "c_2"},
		{"names that make themselves", "#define exp(x) exp(x + 0)\n#define K(n) kernel void n##_1(device float *x) { x[0] = exp(x[0]); } kernel void n##_2(device float *x) { x[0] = exp(x[0]); }\nK(a)", "a_2"},
	} {
		r, err := Of("a.metal", c.text, []string{c.keep})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for name, macros := range compilers {
			whole, part := declarations(t, expanded(t, c.text, macros...)), declarations(t, expanded(t, r.Text, macros...))
			for _, p := range whole {
				if len(part) > 0 && part[0].Text == p.Text {
					part = part[1:]
				} else if p.Kernel == c.keep {
					t.Errorf("%s: MSL %s has lost %s", c.name, name, p.Text)
				}
			}
			if len(part) > 0 {
				t.Errorf("%s: MSL %s has %q, which the whole has not:\n%s", c.name, name, part[0].Text, r.Text)
			}
		}
		t.Logf("%s: %d gone, %v", c.name, r.Gone, r.Stays)
	}
}
