package lanes

import (
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// realKernels are one-lane kernels of the project's own, as
// `introgen metal 1 --keep-generated DIR` leaves them with clang 19.1.7 on amd64.
func realKernels(tb testing.TB) map[string]string {
	tb.Helper()
	files, err := filepath.Glob("testdata/kernels/*.one-lane.ll")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no kernels: %v", err)
	}
	out := map[string]string{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		_, name, _ := strings.Cut(strings.TrimSuffix(filepath.Base(f), ".one-lane.ll"), ".")
		out[name] = string(b)
	}
	return out
}

// inOrder goes over a map by its keys.
func inOrder[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

// BenchmarkFacts reads a kernel and what its code says; bytes are those of the
// text.
func BenchmarkFacts(b *testing.B) {
	for name, text := range inOrder(realKernels(b)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				k, err := Read(text)
				if err == nil {
					_, err = k.Facts()
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTransform reads a kernel and makes each form of it.
func BenchmarkTransform(b *testing.B) {
	for form, o := range inOrder(map[string]Options{"lanes": {}, "scalar": {Scalar: true}}) {
		for name, text := range inOrder(realKernels(b)) {
			b.Run(form+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Transform(text, o); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestFacts: what the code of kernels says is what their sources say. The fields
// of *g below 512 are pointers: buffer n at 16 + 8n (kernel.h).
func TestFacts(t *testing.T) {
	for name, want := range map[string]struct {
		limit     int
		buffers   []int64
		crossLane string
	}{
		"kernel_mul_mv_q8_0_f32":       {0, []int64{0, 1, 2, 3, 4}, "fadd"},
		"softmax_f32":                  {0, []int64{1, 2, 3}, "fadd fmax tgbar"},
		"sdpa_vector_float_64":         {0, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, "bc fadd fmax tgbar"},
		"gemm_nn_f32_f32_32_32_16_2_2": {128, []int64{0, 1, 3, 4, 7}, "tgbar"},
	} {
		k, err := Read(realKernels(t)[name])
		if err != nil {
			t.Fatal(err)
		}
		got, err := k.Facts()
		if err != nil {
			t.Fatal(err)
		}
		var buffers []int64
		for _, f := range slices.Sorted(slices.Values(got.Fields)) {
			if f < 512 {
				buffers = append(buffers, (f-16)/8)
			}
		}
		crossLane := strings.Join(slices.Sorted(slices.Values(got.CrossLane)), " ")
		if got.ThreadLimit != want.limit || !slices.Equal(buffers, want.buffers) || crossLane != want.crossLane {
			t.Errorf("%s: limit %d, buffers %v, across lanes %s; want %+v", name, got.ThreadLimit, buffers, crossLane, want)
		}
		if all, _ := k.Undefined(); len(all) > 0 {
			t.Errorf("%s leaves %v open", name, all)
		}
	}
}

// TestUndefined: a constant without a value matters where the kernel reads it, or
// a variable that something else computes from it.
func TestUndefined(t *testing.T) {
	k, err := Read(`@msl_fc_1 = external local_unnamed_addr constant i8, align 1
@msl_fc_2 = external constant i8, align 1
@msl_fc_3 = external constant i8, align 1
@msl_fc_4 = hidden constant i8 1, align 1
@_ZL4from = internal unnamed_addr global i1 false, align 1
@_ZL5other = internal global i8 0, align 1
define void @msl_entry(ptr %g, i32 %lane, i32 %sg, i32 %x, i32 %y, i32 %z) {
  %a = load i8, ptr @msl_fc_1, align 1
  %b = load i1, ptr @_ZL4from, align 1
  ret void
}
define internal void @_GLOBAL__sub_I_x() section ".text.startup" {
  %1 = load i8, ptr @msl_fc_2, align 1, !tbaa !1
  %2 = icmp eq i8 %1, 0
  store i1 %2, ptr @_ZL4from, align 1, !tbaa !1
  ret void
}
define internal void @__cxx_global_var_init() {
  %1 = load i8, ptr @msl_fc_3, align 1
  store i8 %1, ptr @_ZL5other, align 1
  ret void
}
`)
	if err != nil {
		t.Fatal(err)
	}
	all, needed := k.Undefined()
	if strings.Join(all, " ") != "msl_fc_1 msl_fc_2 msl_fc_3" || !needed["msl_fc_1"] || !needed["msl_fc_2"] || needed["msl_fc_3"] {
		t.Errorf("%v are open, %v matter", all, needed)
	}
}
