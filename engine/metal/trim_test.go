package metal

import (
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/metalshim/msl"
)

// Trimmed libraries hold the kernels that the run needs and no other; one that was not
// foreseen comes from the whole library, which is compiled for it.
func TestTrimmedSources(t *testing.T) {
	m := small(t)
	needs, err := Needs(m, 0, "", OfModel)
	if err != nil {
		t.Fatal(err)
	}
	list, err := needs.Run(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for _, p := range list {
		if !slices.Contains(want[p.Library], p.Function) {
			want[p.Library] = append(want[p.Library], p.Function)
		}
	}
	for _, when := range []When{Serial, Concurrent, Early} {
		dev := newFake()
		d, err := NewDevice(t.Context(), dev, Options{CommandsPerBuffer: 7, Compile: Compile{when, true}, Threads: 3})
		if err != nil {
			t.Fatal(err)
		}
		d.Expect(list)
		d.Expect(list[:1]) // what is known stays
		e := build(t, d, m)
		for pos, ids := range [][]int32{{1, 2, 3}, nil, nil, {4}} {
			if len(ids) > 0 {
				if _, err := e.Step(ids, pos); err != nil {
					t.Fatal(err)
				}
			}
		}
		if len(dev.sources) != len(want) {
			t.Errorf("%v: %d libraries, want %d", when, len(dev.sources), len(want))
		}
		for _, src := range dev.sources {
			read, err := msl.Read(src.File, src.Text)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, k := range read.Kernels {
				got = append(got, k.Name)
			}
			if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want[src.Name]))) {
				t.Errorf("%v: library %s has %q, want %q", when, src.Name, got, want[src.Name])
			}
		}
		// Kernels that no pass of the model needs.
		if err := d.Warm(t.Context(), []forward.Pipeline{{Library: "Reduce", Function: "softmax_f16"}, {Library: "Reduce", Function: "rmsnorm_f16"}}); err != nil {
			t.Error(err)
		}
		text, _, err := kernels.OwnSet().Library("Reduce")
		if last := dev.sources[len(dev.sources)-1]; err != nil || last.Name != "Reduce" || last.Text != text || len(dev.sources) != len(want)+1 {
			t.Errorf("%v: for a kernel that was not foreseen the library %s was compiled, want all of Reduce, once", when, last.Name)
		}
		if strings.Contains(strings.Join(dev.events, " "), "\x00") {
			t.Errorf("a library's name is not its own: %q", dev.events)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		noneLive(t, dev)
	}
}
