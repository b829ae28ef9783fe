package describe

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/introgen/introgen/engine/gguf"
)

// document is the JSON form of a file.
type document struct {
	File       string               `json:"file"`
	Bytes      int64                `json:"bytes"`
	Version    uint32               `json:"version"`
	Alignment  int64                `json:"alignment"`
	DataOffset int64                `json:"data_offset"`
	KeyCount   int                  `json:"key_count"`
	Count      int                  `json:"tensor_count"`
	Part       int                  `json:"part,omitempty"` // of a split file, from 1
	Parts      int                  `json:"parts,omitempty"`
	Skipped    []jsonTensor         `json:"skipped,omitempty"`
	Reads      []jsonRead           `json:"reads,omitempty"`
	Metadata   map[string]jsonValue `json:"metadata"`
	Types      map[string]totals    `json:"types"`
	Tensors    []jsonTensor         `json:"tensors,omitempty"`
}

type jsonRead struct {
	IO gguf.IO `json:"io"`
	MS float64 `json:"ms"`
}

// jsonValue is a metadata value: type and value, or for an array the type of
// its elements, their number, and the values that Text writes too. Escaped says that the string is not UTF-8 and
// stands with \xNN in place of such bytes.
type jsonValue struct {
	Type    string `json:"type"`
	Value   any    `json:"value,omitempty"`
	Elem    string `json:"elem,omitempty"`
	Len     *int   `json:"len,omitempty"`
	Values  []any  `json:"values,omitempty"`
	Escaped bool   `json:"escaped,omitempty"`
}

type jsonTensor struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Dims   []uint64 `json:"dims"`
	Offset int64    `json:"offset"`
	Bytes  int64    `json:"bytes"`
}

// JSON writes one indented JSON object with what Text writes. Dims stand in
// GGUF's order, the contiguous dimension first. A float that JSON cannot hold
// is the string "NaN", "inf" or "-inf".
func JSON(w io.Writer, f *gguf.File, o Options) error {
	d := document{
		File: f.Path, Bytes: f.Size, Version: f.Version, Alignment: f.Alignment,
		DataOffset: f.DataOffset, KeyCount: f.KeyCount(), Count: len(f.Tensors),
		Metadata: map[string]jsonValue{}, Types: map[string]totals{},
	}
	for _, r := range o.Reads {
		d.Reads = append(d.Reads, jsonRead{r.IO, float64(r.Time.Nanoseconds()) / 1e6})
	}
	err := gguf.Fault(func() error {
		for k, v := range f.Keys() {
			j := toJSON(v)
			if listed(k, v) {
				for _, e := range v.Elems() {
					j.Values = append(j.Values, toJSON(e).Value)
				}
			}
			d.Metadata[k] = j
		}
		// What is wrong with split.no and split.count stands among the metadata.
		if part, of, err := f.Part(); err == nil && of > 1 {
			d.Part, d.Parts = part, of
		}
		return nil
	})
	if err != nil {
		return err
	}
	for typ, sum := range sumsOf(f) {
		d.Types[typ.String()] = sum
	}
	if o.Tensors {
		d.Tensors = tensors(f.Tensors)
	}
	d.Skipped = tensors(f.Skipped)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // chat templates are full of <|im_start|>
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return fmt.Errorf("describe %s: %w", f.Path, err)
	}
	return nil
}

func tensors(all []gguf.Tensor) (out []jsonTensor) {
	for _, t := range all {
		out = append(out, jsonTensor{t.Name, t.Type.String(), t.Dims, t.Offset, t.Bytes})
	}
	return out
}

func toJSON(v gguf.Value) jsonValue {
	j := jsonValue{Type: v.Kind().String()}
	if elem, ok := v.ElemKind(); ok {
		n := v.Len()
		return jsonValue{Type: j.Type, Elem: elem.String(), Len: &n}
	}
	if s, ok := v.Str(); ok {
		s, ok = text(s)
		j.Value, j.Escaped = s, !ok
	} else if x, ok := v.Float64(); ok {
		j.Value = float(x, v.Kind())
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			j.Value = json.Number(float(x, v.Kind()))
		}
	} else if b, ok := v.Bool(); ok {
		j.Value = b
	} else {
		j.Value = json.Number(v.String())
	}
	return j
}
