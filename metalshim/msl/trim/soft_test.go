package trim

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/msl"
	"github.com/introgen/introgen/metalshim/soft"
)

// envAll has the test compile every kernel of every library, which takes half an
// hour, and not some of each.
const envAll = "INTROGEN_TRIM_ALL"

// constants are values for all of a library's function constants.
func constants(t *testing.T, l *msl.Library) []metalshim.Constant {
	t.Helper()
	types := map[string]metalshim.ConstantType{"bool": metalshim.Bool, "int": metalshim.Int, "uint": metalshim.UInt, "float": metalshim.Float,
		"int32_t": metalshim.Int, "uint32_t": metalshim.UInt, "short": metalshim.Short, "ushort": metalshim.UShort}
	var out []metalshim.Constant
	for _, c := range l.Constants {
		typ, ok := types[c.Type]
		if !ok {
			t.Fatalf("function constant %s is of type %s", c.Name, c.Type)
		}
		if !slices.ContainsFunc(out, func(o metalshim.Constant) bool { return o.Index == c.Index }) {
			out = append(out, metalshim.Constant{Index: c.Index, Type: typ})
		}
	}
	return out
}

// TestMachineCode: a pipeline from what was trimmed to its kernel is the same
// machine code as from the whole source, byte for byte.
func TestMachineCode(t *testing.T) {
	for _, set := range sets(t) {
		for _, f := range set.Files() {
			t.Run(set.String()+"/"+f.Library, func(t *testing.T) {
				t.Parallel()
				sameCode(t, set, f)
			})
		}
	}
}

func sameCode(t *testing.T, set *kernels.Set, f kernels.File) {
	all, err := msl.Read(f.Name, f.Text)
	if err != nil {
		t.Fatal(err)
	}
	some := all.Kernels
	if os.Getenv(envAll) == "" {
		some = some[len(some)/2:][:1]
		if quick := []string{"Affine", "Cast", "Indexing", "Quantized", "Unary"}; set.String() != kernels.Own && !slices.Contains(quick, f.Library) {
			t.Skipf("SKIP: needs %s=1: it takes minutes", envAll)
		}
	}
	dir := filepath.Join(t.TempDir(), "kept")
	ctx := context.Background()
	d, err := soft.Open(ctx, soft.Options{CacheDir: t.TempDir(), Keep: dir})
	if err != nil {
		t.Skipf("SKIP: needs the soft driver: %v", err)
	}
	defer d.Close()
	library := func(name, text string) metalshim.Library {
		l, err := d.NewLibrary(ctx, metalshim.Source{Name: name, File: f.Name, Text: text,
			CompileOptions: metalshim.CompileOptions{MathMode: metalshim.MathFast, MathFunctions: metalshim.FastFunctions}})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	whole := library("Whole", f.Text)
	defer whole.Release()
	values := constants(t, all)
	for _, k := range some {
		text, err := Trim(f.Name, f.Text, []string{k.Name})
		if err != nil {
			t.Fatal(err)
		}
		part := library("Part~"+k.Name, text)
		for _, l := range []metalshim.Library{whole, part} {
			p, err := l.NewPipeline(ctx, k.Name, values)
			if err != nil {
				t.Fatal(err)
			}
			p.Release()
		}
		part.Release()
		of := func(pattern string) []byte {
			found, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil || len(found) != 1 {
				t.Fatalf("%s: %v, %v", pattern, found, err)
			}
			b, err := os.ReadFile(found[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(found[0]); err != nil {
				t.Fatal(err)
			}
			return b
		}
		if !bytes.Equal(of("Whole.*.so"), of("Part~*.so")) {
			t.Errorf("%s: its machine code is another than that from the whole source", k.Name)
		}
	}
}
