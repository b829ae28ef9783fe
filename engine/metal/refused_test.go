package metal

import (
	"errors"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer/transformertest"
	"github.com/introgen/introgen/metalshim"
)

// TestCPURunsWhatIsRefused: every refusal of a sound model names the cpu engine,
// which runs it.
func TestCPURunsWhatIsRefused(t *testing.T) {
	const hint = "; `introgen cpu` runs it"
	d := open(t, newFake(), 50)
	for want, c := range map[string]transformertest.Config{
		"no attention kernel for head dimension 16; candle launches kernels for [32 64 96 128 256 512]": {Heads: 4, KVHeads: 2, HeadDim: 16, Hidden: 64, FFN: 64},
		"head dimension 72":             {Heads: 1, KVHeads: 1, HeadDim: 72, Hidden: 72, FFN: 64},
		"head dimension 80":             {Heads: 2, KVHeads: 1, HeadDim: 80, Hidden: 160, FFN: 64},
		"head dimension 160":            {Heads: 2, KVHeads: 1, HeadDim: 160, Hidden: 320, FFN: 64},
		"head dimension 510":            {Heads: 1, KVHeads: 1, HeadDim: 510, Hidden: 510, FFN: 64},
		"head dimension 514":            {Heads: 1, KVHeads: 1, HeadDim: 514, Hidden: 514, FFN: 64},
		"rotary dimension 16":           {Heads: 2, KVHeads: 2, HeadDim: 32, Hidden: 64, FFN: 64, RopeDim: 16},
		"a feed-forward size of 1, for": {Heads: 2, KVHeads: 2, HeadDim: 32, Hidden: 64, FFN: 1},
		"a vocabulary of 1, for":        {Heads: 2, KVHeads: 2, HeadDim: 32, Hidden: 64, FFN: 64, Vocab: 1},
	} {
		m := load(t, transformertest.Write(t, c))
		_, err := d.New(m)
		var refused *forward.UnsupportedError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), hint) {
			t.Errorf("error %v, want one with %q that ends with %q", err, want, hint)
		}
		if _, needs := Needs(m, 0, "", OfModel); needs == nil || needs.Error() != err.Error() {
			t.Errorf("what a run would need: error %v, that of the run is %v", needs, err)
		}
		e, err := cpu.New(m, cpu.Options{Threads: 1})
		if err != nil {
			t.Errorf("%s: the cpu engine: %v", want, err)
			continue
		}
		if _, err := e.Step([]int32{0}, 0); err != nil {
			t.Errorf("%s: the cpu engine: %v", want, err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// cramped is a device that makes no buffer of more than 16 kB.
type cramped struct{ *fake }

func (c cramped) NewBufferWithBytes(b []byte) (metalshim.Buffer, error) {
	if len(b) > 16<<10 {
		return nil, &metalshim.AllocationError{Length: int64(len(b)), Limit: 16 << 10}
	}
	return c.fake.NewBufferWithBytes(b)
}

// TestNoRoom: a model too large for the device is one for the cpu engine.
func TestNoRoom(t *testing.T) {
	d := open(t, cramped{newFake()}, 50)
	_, err := d.New(load(t, transformertest.Write(t, transformertest.Config{Heads: 2, KVHeads: 2, HeadDim: 32, Hidden: 64, FFN: 64, Type: quant.F16, Vocab: 65, Output: true})))
	if err == nil || !strings.Contains(err.Error(), "the device allows 16384") || !strings.HasSuffix(err.Error(), forward.CPURuns) {
		t.Errorf("error %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// TestEveryType: a matrix of each type that a model file may have and this
// program can decode runs, or is refused with a hint to who runs it.
func TestEveryType(t *testing.T) {
	known := map[string]bool{}
	for _, f := range forward.Formats() {
		known[strings.ToLower(f.Name)] = true
	}
	for typ := range quant.Type(64) {
		if !typ.CanDecode() {
			continue
		}
		_, err := forward.FormatOf(typ.String())
		if known[strings.ToLower(typ.String())] != (err == nil) {
			t.Errorf("%s: %v", typ, err)
		}
	}
}

// TestContextLimits: whose limit a context is, at, below and above candle's.
func TestContextLimits(t *testing.T) {
	for _, c := range []struct {
		file, want int
		says       string
	}{
		{64, 64, "the model's file allows no more (llama.context_length 64)"},
		{4095, 4095, "the model's file allows no more (llama.context_length 4095)"},
		{4096, 4096, "the model's file allows no more (llama.context_length 4096)"},
		{4097, 4096, "that is candle's limit, whose rotary tables have 4096 rows where the model's file allows 4097 positions; `introgen cpu` is not bound by it"},
		{131072, 4096, "that is candle's limit, whose rotary tables have 4096 rows where the model's file allows 131072 positions"},
	} {
		d := open(t, newFake(), 50)
		e := build(t, d, load(t, transformertest.Write(t, transformertest.Config{Layers: 1, Heads: 1, KVHeads: 1, HeadDim: 32, Hidden: 32, FFN: 32, Context: c.file})))
		if e.Context() != c.want || !strings.HasPrefix(e.ContextLimit(), c.says) {
			t.Errorf("a file of %d positions: %d, %s", c.file, e.Context(), e.ContextLimit())
		}
		_, err := e.Step(make([]int32, c.want+1), 0)
		var limit *forward.LimitError
		if !errors.As(err, &limit) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%d tokens: %v", c.want+1, err)
		}
		if err := errors.Join(e.Close(), d.Close()); err != nil {
			t.Error(err)
		}
	}
}
