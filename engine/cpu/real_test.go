//go:build unix

package cpu_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/cpu"
	"github.com/introgen/introgen/engine/cpu/kernel"
	"github.com/introgen/introgen/engine/cpu/pages/pagestest"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/engine/transformer/transformertest"
)

// shape is that of a real model, and the type that it is tried with.
type shape struct {
	name  string
	typ   quant.Type
	shape transformertest.Config
}

// realShapes are the shapes of models that people run, as their config.json says.
var realShapes = []shape{
	{"TinyLlama 1.1B", quant.Q8_0, transformertest.Config{Hidden: 2048, FFN: 5632, Heads: 32, KVHeads: 4, HeadDim: 64, Vocab: 32000, Context: 2048}},
	{"Llama 3.2 1B", quant.Q4_1, transformertest.Config{Hidden: 2048, FFN: 8192, Heads: 32, KVHeads: 8, HeadDim: 64, Vocab: 128256, Context: 131072, RopeFactor: true}},
	{"Llama 3.2 3B", quant.Q8_0, transformertest.Config{Hidden: 3072, FFN: 8192, Heads: 24, KVHeads: 8, HeadDim: 128, Vocab: 128256, Context: 131072, RopeFactor: true}},
	{"SmolLM2 360M", quant.Q8_0, transformertest.Config{Hidden: 960, FFN: 2560, Heads: 15, KVHeads: 5, HeadDim: 64, Vocab: 49152, Context: 8192}},
	{"SmolLM2 1.7B", quant.Q4_1, transformertest.Config{Hidden: 2048, FFN: 8192, Heads: 32, KVHeads: 32, HeadDim: 64, Vocab: 49152, Context: 8192}},
	{"Mistral 7B", quant.Q8_0, transformertest.Config{Hidden: 4096, FFN: 14336, Heads: 32, KVHeads: 8, HeadDim: 128, Vocab: 32000, Context: 32768, Output: true}},
}

// realEnv makes TestRealShapes larger: "threads" takes plain Go with every number
// of threads, and "full" also two layers, the whole vocabulary, both fast types, and
// with assembly a prompt of more than a chunk. That takes minutes, and an hour.
const realEnv = "INTROGEN_REAL_SHAPES"

// The shapes of real models with random weights, against float64: with one
// layer and 2000 tokens, or whole in width where realEnv asks for it. The log is a
// table.
func TestRealShapes(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: needs long computing")
	}
	full := os.Getenv(realEnv) == "full"
	all := full || os.Getenv(realEnv) == "threads"
	log := []string{"| shape | weights | prompt | set | packed | 1 thread | 2 threads | 3 threads | 4 threads | 5 threads |", "|---|---|---|---|---|---|---|---|---|---|"}
	defer func() {
		t.Log("largest error of a logit, and whether all ids are those of float64:\n" + strings.Join(log, "\n"))
	}()
	try := func(r shape, typ quant.Type, sets []string, prompt int) {
		c := r.shape
		c.Bits, c.Type, c.Embedding = true, typ, typ
		if c.Layers = 2; !full {
			c.Layers, c.Vocab = 1, 2000
		}
		t.Run(fmt.Sprintf("%s/%v/%d", r.name, typ, prompt), func(t *testing.T) {
			x := expect(t, model(t, transformertest.Write(t, c)), prompt)
			buffers := pagestest.New(t)
			defer cpu.TakeMemory(buffers.Ending)()
			for _, set := range sets {
				for _, pack := range []cpu.Pack{cpu.PackOff, cpu.PackOn} {
					row := fmt.Sprintf("| %s | %v | %d | %s | %v |", r.name, typ, prompt, set, pack == cpu.PackOn)
					for threads := 1; threads <= 5; threads++ {
						if set == "generic" && !all && threads != 2 { // plain Go takes long
							row += " |"
							continue
						}
						row += " " + tryReal(t, x, cpu.Options{Set: set, Threads: threads, Pack: pack}) + " |"
						buffers.Free()
					}
					t.Log(row)
					log = append(log, row)
				}
			}
		})
	}
	for _, r := range realShapes {
		if !full {
			try(r, r.typ, kernel.Names(), 5)
			continue
		}
		for _, typ := range []quant.Type{quant.Q8_0, quant.Q4_1} {
			try(r, typ, kernel.Names(), 5)
			try(r, typ, slices.DeleteFunc(kernel.Names(), func(name string) bool { return name == "generic" }), cpu.Chunk+1)
		}
	}
}

// tryReal passes x's text to an engine and says what a cell of the table says.
func tryReal(t *testing.T, x *expected, o cpu.Options) string {
	t.Helper()
	e, err := cpu.New(x.m, o)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	worst, same := x.compare(t, e)
	if worst > 2e-3 {
		t.Errorf("%+v: largest error of a logit %.6f", o, worst)
	}
	if !same {
		t.Errorf("%+v: not the ids of float64", o)
	}
	return fmt.Sprintf("%.6f %s", worst, map[bool]string{true: "equal", false: "DIFFERENT"}[same])
}

// What an engine takes besides the weights and the cache stays small at the
// largest shape: a thread less than half a MiB, and all of it less than 16 MiB.
func TestMemoryOfBuffers(t *testing.T) {
	c := realShapes[len(realShapes)-1].shape
	c.Layers, c.Vocab, c.Bits, c.Type, c.Embedding = 1, 2000, true, quant.Q8_0, quant.Q8_0
	m := model(t, transformertest.Write(t, c))
	bytes := func(m *transformer.Model, threads int) (n int) {
		defer cpu.TakeMemory(func(more int) []byte { n += more; return make([]byte, more) })()
		e := newEngine(t, m, cpu.Options{Threads: threads, Context: 512})
		e.Close()
		return n - 2*m.KVHeads*m.HeadDim/32*68*512
	}
	one, two := bytes(m, 1), bytes(m, 2)
	t.Logf("one thread %d KiB, each more %d KiB", one>>10, (two-one)>>10)
	if two-one > 512<<10 || one > 16<<20 {
		t.Errorf("one thread takes %d bytes, and a second %d more", one, two-one)
	}
}
