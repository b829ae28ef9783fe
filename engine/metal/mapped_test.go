package metal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/metal/metaltest"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/callfault"
)

// mapped opens a model's file too, from which its weights are mapped.
func mapped(t testing.TB, path string) (*gguf.File, *transformer.Model) {
	t.Helper()
	f, err := gguf.Open(path, gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	m, err := transformer.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	return f, m
}

// tiny is the path of a model whose kernels all drivers can run, and whose
// matrices stay in the map.
func tiny(t testing.TB) string {
	return transformertest.Write(t, transformertest.Config{Layers: 2, Heads: 2, KVHeads: 1, HeadDim: 32, Hidden: 64, FFN: 64, Context: 64, Output: true, Embedding: quant.Q8_0, Type: quant.Q8_0})
}

// logits are those after a prompt and after a step, one list; the engine and the
// device are closed.
func logits(t *testing.T, d *Device, e *Engine) []float32 {
	t.Helper()
	var all []float32
	pos := 0
	for _, ids := range [][]int32{{1, 2, 3}, {4}, {5}} {
		if _, err := e.Step(ids, pos); err != nil {
			t.Fatal(err)
		}
		l, err := e.Logits()
		if err != nil {
			t.Fatal(err)
		}
		all, pos = append(all, l...), pos+len(ids)
	}
	if err := errors.Join(e.Close(), d.Close()); err != nil {
		t.Error(err)
	}
	return all
}

// TestMapped: weights in the map give the same logits as copies, bit for bit,
// through the same libraries, pipelines, dispatches and barriers, in one buffer,
// in several, and where some find no place.
func TestMapped(t *testing.T) {
	page := int64(os.Getpagesize())
	for name, c := range map[string]struct {
		model   transformertest.Config
		longest int64
		says    string
	}{
		"tied":       {transformertest.Config{Layers: 2, Heads: 2, KVHeads: 1, HeadDim: 32, Hidden: 64, FFN: 64, Embedding: quant.Q8_0, Type: quant.Q8_0}, 0, "weights mapped, not copied"},
		"floats":     {transformertest.Config{Layers: 2, Heads: 2, KVHeads: 1, HeadDim: 32, Hidden: 64, FFN: 64, Embedding: quant.F16, Type: quant.BF16}, 0, "weights copied, not mapped, 15 of F32, F16 or BF16 copied as float32, as candle multiplies by them"},
		"mixed":      {transformertest.Config{Layers: 2, Heads: 2, KVHeads: 1, HeadDim: 32, Hidden: 64, FFN: 64, Embedding: quant.F16, Type: quant.Q8_0}, 0, "weights mapped, not copied, 1 of F32, F16 or BF16 copied as float32"},
		"own output": {transformertest.Config{Layers: 2, Heads: 2, KVHeads: 1, HeadDim: 32, Hidden: 64, FFN: 64, Output: true, Embedding: quant.Q8_0, Type: quant.Q8_0}, 0, "weights mapped, not copied"},
		"several":    {transformertest.Config{Layers: 2, Heads: 2, KVHeads: 1, HeadDim: 32, Hidden: 64, FFN: 64, Vocab: 33, Embedding: quant.Q8_0, Type: quant.Q8_0}, 5 * page, "weights mapped, not copied (in "},
		"no place":   {transformertest.Config{Layers: 2, Heads: 2, KVHeads: 1, HeadDim: 32, Hidden: 64, FFN: 64, Vocab: 2000, Embedding: quant.Q8_0, Type: quant.Q8_0}, 6 * page, " buffers), 1 copied: token_embd.weight, whose pages have "},
	} {
		t.Run(name, func(t *testing.T) {
			f, m := mapped(t, transformertest.Write(t, c.model))
			copies, maps := newFake(), newFake()
			d := open(t, copies, 7)
			want := logits(t, d, build(t, d, m))
			maps.longest = c.longest
			d = open(t, maps, 7)
			e, err := d.NewMapped(m, f)
			if err != nil {
				t.Fatal(err)
			}
			p := Place(f, maps.Info().MaxBufferLength)
			if maps.lent != len(p.Views) || !strings.HasPrefix(p.String(), "weights ") || !strings.Contains(p.String(), c.says) {
				t.Errorf("%d buffers over the map: %s", maps.lent, p)
			}
			if c.longest == 0 && (len(p.Views) != 1 || len(p.Copied) != 0) {
				t.Errorf("%d buffers where one would do, %q copied", len(p.Views), p.Copied)
			}
			if got := logits(t, d, e); !slices.Equal(got, want) {
				t.Error("the logits differ")
			}
			if !slices.Equal(maps.events, copies.events) || !slices.Equal(maps.dispatches, copies.dispatches) || len(maps.dispatches) < 100 {
				t.Errorf("%d dispatches and barriers, %d with copies; they or what is compiled differ", len(maps.dispatches), len(copies.dispatches))
			}
			noneLive(t, copies)
			noneLive(t, maps)
		})
	}
}

// TestPlacing: by hand, for the pages of both of Apple's processors.
func TestPlacing(t *testing.T) {
	matrix := func(name string, offset, bytes int64) gguf.Tensor {
		return gguf.Tensor{Name: name, Dims: []uint64{32, 2}, Offset: offset, Bytes: bytes}
	}
	f := &gguf.File{Tensors: []gguf.Tensor{
		matrix("d", 50_000, 20_000), // a multiple of 16, as the others, but for odd
		{Name: "norm", Dims: []uint64{64, 1}, Offset: 8, Bytes: 256},
		matrix("a", 5_008, 5_000),
		matrix("odd", 10_008, 1_000),
		matrix("b", 12_000, 20_000),
		matrix("c", 32_000, 18_000),
	}}
	odd := "odd, whose offset 10008 is no multiple of 16"
	pages := func(longest, bytes int, names ...string) (copied []string) {
		for _, n := range names {
			copied = append(copied, fmt.Sprintf("%s, whose pages have %d bytes of the %d that a buffer may have", n, bytes, longest))
		}
		return copied
	}
	for _, c := range []struct {
		longest, page int64
		views         [][2]int64
		at            map[string]place
		copied        []string
	}{
		{1 << 40, 4096, [][2]int64{{4096, 73728}}, map[string]place{"a": {0, 912}, "b": {0, 7904}, "c": {0, 27904}, "d": {0, 45904}}, []string{odd}},
		{1 << 40, 16384, [][2]int64{{0, 81920}}, map[string]place{"a": {0, 5008}, "b": {0, 12000}, "c": {0, 32000}, "d": {0, 50000}}, []string{odd}},
		// c ends at 50,000, in the page that d begins in.
		{49152 + 4095, 4096, [][2]int64{{4096, 53248}, {49152, 73728}}, map[string]place{"a": {0, 912}, "b": {0, 7904}, "c": {0, 27904}, "d": {1, 848}}, []string{odd}},
		{20480, 4096, [][2]int64{{4096, 12288}}, map[string]place{"a": {0, 912}}, append(pages(20480, 24576, "b", "c", "d"), odd)},
		{8191, 4096, nil, nil, append(pages(8191, 8192, "a"), append(pages(8191, 24576, "b", "c", "d"), odd)...)},
	} {
		p := placing(f, c.longest, c.page)
		slices.Sort(p.Copied)
		slices.Sort(c.copied)
		if !slices.Equal(p.Views, c.views) || !slices.Equal(p.Copied, c.copied) || len(p.at) != len(c.at) {
			t.Errorf("at most %d bytes, pages of %d: %+v", c.longest, c.page, p)
		}
		for name, want := range c.at {
			if p.at[name] != want {
				t.Errorf("at most %d bytes, pages of %d: %s at %+v, want %+v", c.longest, c.page, name, p.at[name], want)
			}
		}
	}
}

// TestPlacingInWords is what the user reads of it.
func TestPlacingInWords(t *testing.T) {
	some := map[string]place{"a": {}}
	for want, p := range map[string]Placing{
		"weights mapped, not copied":                                {Views: make([][2]int64, 1), at: some},
		"weights mapped, not copied (in 2 buffers), 2 copied: x; y": {Views: make([][2]int64, 2), at: some, Copied: []string{"x", "y"}},
		"weights copied, not mapped, 4 copied: 1; 2; 3; and 1 more": {Copied: []string{"1", "2", "3", "4"}},
	} {
		if got := p.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestMappedRefused: what cannot be is said, and nothing is copied instead.
func TestMappedRefused(t *testing.T) {
	path := tiny(t)
	f, m := mapped(t, path)
	other, _ := mapped(t, path)
	read, err := gguf.Open(path, gguf.Buffered)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	dev := newFake()
	d := open(t, dev, 50)
	if _, err := d.NewMapped(m, read); err == nil || !strings.Contains(err.Error(), "opened with buffered: only mmap maps it") {
		t.Errorf("a file that is not mapped: %v", err)
	}
	if _, err := d.NewMapped(m, other); err == nil || !strings.Contains(err.Error(), "loaded from another file") {
		t.Errorf("another file: %v", err)
	}
	logits(t, d, build(t, d, m)) // the device is as it was
	noneLive(t, dev)
	d = open(t, struct{ metalshim.Device }{dev}, 50)
	if _, err := d.NewMapped(m, f); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a driver that only copies: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	noneLive(t, dev)
}

// TestMappedFaults: each allocation, commit and wait fails once, and when the
// engine is closed nothing holds the map any more.
func TestMappedFaults(t *testing.T) {
	f, m := mapped(t, tiny(t))
	for call, least := range map[callfault.Call]int{callfault.Alloc: 30, callfault.Commit: 15, callfault.Wait: 5} {
		for n := 1; ; n++ {
			dev := newFake()
			d := open(t, callfault.New(callfault.Rules{{Call: call, N: n, Fail: true}}).Wrap(dev), 7)
			e, err := d.NewMapped(m, f)
			if err == nil {
				_, err = e.Step([]int32{1, 2, 3}, 0)
				err = errors.Join(err, e.Close())
			}
			if dev.lent != 0 || dev.pending != 0 || dev.early != 0 {
				t.Errorf("%s %d: %d buffers over the map outlive the engine, %d uses of them are still encoded, %d were released while the device worked",
					call, n, dev.lent, dev.pending, dev.early)
			}
			closing := d.Close()
			noneLive(t, dev)
			if err == nil && closing == nil {
				if n <= least {
					t.Errorf("a run makes %d calls of %s, at least %d were expected", n-1, call, least)
				}
				break
			}
			if !errors.Is(errors.Join(err, closing), callfault.ErrInjected) {
				t.Errorf("%s %d: %v", call, n, err)
			}
		}
	}
}

// TestMapOutlivesCommands: an engine that is closed while the device still works,
// because nobody wanted to wait, waits all the same before it lets go of the map.
func TestMapOutlivesCommands(t *testing.T) {
	f, m := mapped(t, tiny(t))
	ctx, cancel := context.WithCancel(t.Context())
	dev := newFake()
	d, err := NewDevice(ctx, dev, Options{CommandsPerBuffer: 7})
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.NewMapped(m, f)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	patient, lent := 0, 0
	dev.wait = func(ctx context.Context) error {
		if ctx.Err() == nil {
			patient++
			lent = dev.lent
		}
		return ctx.Err()
	}
	if _, err := e.Step([]int32{1}, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the cancellation's", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if patient != 1 || lent != 1 || dev.lent != 0 {
		t.Errorf("%d waits to the end, then with %d buffers over the map, %d after the engine", patient, lent, dev.lent)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	noneLive(t, dev)
}

// TestMapShrinks: a file that shrinks under the device, before its weights are
// read or after, ends in an error that names it, and the process lives.
func TestMapShrinks(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("SKIP: needs a driver that says what it makes of lost memory; Metal does not")
	}
	dev := metaltest.Device(t)
	metaltest.Models(t, dev)
	for _, when := range []string{"build", "step"} {
		path := tiny(t)
		f, m := mapped(t, path)
		d := open(t, dev, 50)
		shrink := func() {
			if err := os.Truncate(path, 100); err != nil {
				t.Fatal(err)
			}
		}
		if when == "build" {
			shrink()
		}
		e, err := d.NewMapped(m, f)
		if err == nil && when == "step" {
			if _, err := e.Step([]int32{1, 2}, 0); err != nil {
				t.Fatal(err)
			}
			shrink()
			_, err = e.Step([]int32{3}, 2)
			if closing := e.Close(); closing != nil {
				t.Error(closing)
			}
		}
		if err == nil || !strings.Contains(err.Error(), path+": the mapped file cannot be read at offset ") || !errors.As(err, new(*metalshim.CommandError)) {
			t.Errorf("shrunk before the %s: error %v", when, err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		noneLive(t, dev)
	}
}
