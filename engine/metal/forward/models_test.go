package forward

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorded is the model of a trace: its first line.
type recorded struct {
	Layers, Heads, Vocab, FFN int
	KVHeads                   int  `json:"kv_heads"`
	HeadDim                   int  `json:"head_dim"`
	OwnOutput                 bool `json:"own_output"`
	// Types of tensors by their name without layer and ".weight"; "*" is of
	// the matrices that are not named, and norms are F32.
	Types map[string]string
	// Passes are of so many tokens after one another.
	Passes       []int
	Architecture string
	Model        string // "" is llama
	Hidden       int    // 0 is heads times their dimension
	Context      int    // 0 is 8192
	DType        *int   // general.dtype
	Window       int    // of layers but each Pattern-th
	Pattern      int    // 0 is 6
}

func (m recorded) config() Config {
	return Config{
		Model: m.Model, Candle: true, HalfTables: m.DType == nil || *m.DType != 0,
		Layers: m.Layers, Heads: m.Heads, KVHeads: m.KVHeads, HeadDim: m.HeadDim, Hidden: cmp.Or(m.Hidden, m.Heads*m.HeadDim), FFN: m.FFN, Vocab: m.Vocab, Context: cmp.Or(m.Context, 8192),
		RMSEps: 1e-5, RopeBase: 100000, RopeDim: m.HeadDim, OwnOutput: m.OwnOutput, Architecture: m.Architecture,
		Window: func(layer int) int {
			if (layer+1)%cmp.Or(m.Pattern, 6) == 0 {
				return 0
			}
			return m.Window
		},
		Format: func(tensor string) (Format, error) {
			name := strings.TrimSuffix(tensor[strings.LastIndexByte(strings.TrimSuffix(tensor, ".weight"), '.')+1:], ".weight")
			if t, ok := m.Types[name]; ok {
				return FormatOf(t)
			}
			if strings.HasSuffix(name, "norm") || strings.HasSuffix(name, "bias") {
				return FormatOf("F32")
			}
			return FormatOf(m.Types["*"])
		},
	}
}

// recordedTrace reads a trace of candle 0.11.0 over the model that its first
// line tells (scripts/reference/candlemetal).
func recordedTrace(t *testing.T, file string) (m recorded, sections []section) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(zip)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		kind, rest, _ := strings.Cut(lines.Text(), " ")
		switch kind {
		case "model":
			err = json.Unmarshal([]byte(rest), &m)
		case "section":
			sections = append(sections, section{name: rest})
		default:
			last := &sections[len(sections)-1]
			last.events = append(last.events, lines.Text())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(lines.Err(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return m, sections
}

// TestEqualsCandleOverModels holds whole runs of other models than the
// experiment's against candle's own: types of weights, tied and not, shapes,
// lengths of prompts, classes of devices.
func TestEqualsCandleOverModels(t *testing.T) {
	files, err := filepath.Glob("testdata/models/*.txt.gz")
	for _, model := range Models() {
		more, e := filepath.Glob("testdata/models/" + model + "/*.txt.gz")
		if files = append(files, more...); model != "llama" && len(more) < 8 {
			t.Errorf("%d traces of %s", len(more), model)
		}
		err = errors.Join(err, e)
	}
	if err != nil || len(files) == 0 {
		t.Fatalf("%d traces, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(file, "testdata/models/"), ".txt.gz"), func(t *testing.T) {
			m, candle := recordedTrace(t, file)
			want, got := merged(candle), ownPasses(t, m.config(), m.Passes, 50, false)
			if len(want) != len(got) {
				t.Fatalf("candle has %d phases, the plan %d", len(want), len(got))
			}
			var wantAll, gotAll []string
			for i := range want {
				wantAll = append(append(wantAll, "section "+want[i].name), want[i].events...)
				gotAll = append(append(gotAll, "section "+got[i].name), got[i].events...)
			}
			for _, kinds := range eventKinds {
				compare(t, kinds, only(kinds, renamed(t, wantAll)), only(kinds, renamed(t, gotAll)))
			}
		})
	}
}
