package lanes

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden holds the whole text made of small kernels.
func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/golden/*.ll")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no golden inputs: %v", err)
	}
	for _, in := range inputs {
		src, err := os.ReadFile(in)
		if err != nil {
			t.Fatal(err)
		}
		for form, o := range map[string]Options{"scalar": {Scalar: true}, "fast": {}} {
			file := strings.TrimSuffix(in, ".ll") + "." + form + ".txt"
			got, err := Transform(string(src), o)
			if err != nil {
				t.Fatalf("%s: %v", in, err)
			}
			if again, _ := Transform(string(src), o); again != got {
				t.Errorf("%s: the same input gave another output", in)
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs; if that is meant, go test -update and read the difference", file)
			}
		}
	}
}

// TestGoldenKernelsRun runs the golden inputs, so that the texts held are right.
func TestGoldenKernelsRun(t *testing.T) {
	read := func(name string) string {
		h := string(clangRun(t, Header, "-std=c++17", "-x", "c++", "-O1", "-S", "-emit-llvm", "-", "-o", "-"))
		src, err := os.ReadFile("testdata/golden/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return join(t, h, string(src))
	}
	for _, o := range []Options{{Scalar: true}, {}} {
		n, v := []uint32{50}, make([]float32, 64)
		for i := range v {
			v[i] = float32(i)
		}
		build(t, read("scale.ll"), o).run(t, dispatch{tgd: [3]uint32{64}, bufs: []any{n, v}})
		for i, g := range v {
			if w := float32(i); i < 50 && g != 3*w || i >= 50 && g != w {
				t.Fatalf("scale: element %d is %v", i, g)
			}
		}
		build(t, read("loop.ll"), o).run(t, dispatch{tgd: [3]uint32{32}, bufs: []any{v}})
		for l, w := 0, float32(0); l < 32; l++ {
			if w += float32(32 - l); v[l] != w {
				t.Fatalf("loop: lane %d got %v, want %v", l, v[l], w)
			}
		}
		u := make([]uint32, 64)
		build(t, read("barrier.ll"), o).run(t, dispatch{tgd: [3]uint32{64}, bufs: []any{u}})
		for i, g := range u {
			if w := uint32(63 - i + i*i); g != w {
				t.Fatalf("barrier: thread %d got %d, want %d", i, g, w)
			}
		}
	}
}

// join adds a golden kernel to the compiled header: with other attribute
// numbers, as both have their own.
func join(t *testing.T, header, kernel string) string {
	t.Helper()
	var keep []string
	for _, l := range strings.Split(kernel, "\n") {
		if !strings.HasPrefix(l, "target ") && !strings.HasPrefix(l, "!") {
			keep = append(keep, strings.NewReplacer(", !tbaa !0", "", "#0", "#9000", "#1", "#9001").Replace(l))
		}
	}
	return header + strings.Join(keep, "\n")
}

// TestErrors: what the pass cannot take is an error that says where.
func TestErrors(t *testing.T) {
	body := func(s string) string {
		return "define void @msl_entry(ptr %g, i32 %lane, i32 %sg, i32 %x, i32 %y, i32 %z) {\nentry:\n" + s + "\n}\n"
	}
	for _, c := range []struct{ name, ir, want string }{
		{"nothing", "", "no definition of @msl_entry"},
		{"open brace", "define void @msl_entry(ptr %g) {\n", "no closing brace"},
		{"parameters", "define void @msl_entry(ptr %g) {\n ret void\n}\n", "1 parameters, want 6"},
		{"result", "define i32 @msl_entry(ptr %g, i32 %a, i32 %b, i32 %c, i32 %d, i32 %e) {\n ret void\n}\n", "is not void"},
		{"call", body("  call void @helper()\n  ret void"), "call of @helper, which is neither inlined nor known"},
		{"operation", body("  %a = call i32 @msl_sy_what(i32 1)\n  ret void"), "unknown cross-lane operation @msl_sy_what"},
		{"signature", body("  %a = call i32 @msl_sy_fadd(i32 1)\n  ret void"), "@msl_sy_fadd has types i32, i32 (result first), want float, float"},
		{"instruction", body("  %a = landingpad i32\n  ret void"), `unsupported instruction "landingpad"`},
		{"undefined", body("  %a = add i32 %b, 1\n  ret void"), "uses undefined %b"},
		{"late", body("  %a = add i32 %b, 1\n  %b = add i32 1, 1\n  ret void"), "uses %b before it is defined"},
		{"type", body("  %a = add i64 %x, 1\n  ret void"), "takes %x as i64, it is i32"},
		{"twice", body("  %a = add i32 1, 1\n  %a = add i32 1, 1\n  ret void"), "%a defined twice"},
		{"terminator", body("  %a = add i32 1, 1"), "terminator and end of block do not meet"},
		{"label", body("  br label %nowhere"), "names an unknown block"},
		{"phi", body("  br label %a\na:\n  %p = phi i32 [ 1, %a ]\n  br label %a"), "no entry for predecessor entry"},
		{"irreducible", body("  %c = icmp eq i32 %x, 0\n  br i1 %c, label %a, label %b\na:\n  br label %b\nb:\n  br label %a"), "irreducible"},
		{"indirect call", body("  call void %g()\n  ret void"), "no named function"},
		{"alloca", body("  %n = zext i32 %x to i64\n  %a = alloca i8, i64 %n\n  ret void"), "alloca with a count"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, o := range []Options{{Scalar: true}, {}} {
				_, err := Transform(c.ir, o)
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("scalar=%v: error %v, want one with %q", o.Scalar, err, c.want)
				}
			}
		})
	}
}

// FuzzTransform: no text makes the pass panic or hang.
func FuzzTransform(f *testing.F) {
	inputs, _ := filepath.Glob("testdata/golden/*.ll")
	for _, in := range inputs {
		src, err := os.ReadFile(in)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(src))
	}
	f.Add("define void @msl_entry(ptr %g, i32 %0, i32 %1, i32 %2, i32 %3, i32 %4) {\n" +
		"  %6 = icmp eq i32 %0, 0\n  %7 = insertelement <2 x float> poison, float 1.0, i64 0\n  %8 = shufflevector <2 x float> %7, <2 x float> poison, <2 x i32> <i32 1, i32 poison>\n" +
		"  %9 = select i1 %6, <2 x float> %7, <2 x float> %8\n  %10 = call float @llvm.vector.reduce.fadd.v2f32(float 0.0, <2 x float> %9)\n" +
		"  %11 = cmpxchg ptr %g, i32 %0, i32 %1 monotonic monotonic, align 4\n  %12 = extractvalue { i32, i1 } %11, 0\n" +
		"  switch i32 %12, label %13 [ i32 0, label %14\n i32 7, label %13 ]\n13:\n  store float %10, ptr %g, align 4\n  br label %14\n14:\n  ret void\n}\n")
	f.Fuzz(func(t *testing.T, ir string) {
		for _, o := range []Options{{Scalar: true}, {}} {
			if k, err := Read(ir); err == nil {
				_, _ = k.transform(o) // not Transform, which would hide a panic
			}
		}
	})
}
