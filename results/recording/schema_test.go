package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schema compiles recording.schema.json with a validator that is not ours.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	f, err := os.Open("recording.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("recording.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("recording.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, line []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return s.Validate(v)
}

// TestSchemaTakesWhatIsWritten holds events as Encode writes them, and the
// recordings that the project keeps, to the schema.
func TestSchemaTakesWhatIsWritten(t *testing.T) {
	s := schema(t)
	events := append(small(), foreign()...)
	for i, e := range events {
		switch e := e.(type) {
		case *Device:
			e.Digest = strings.Repeat("ab", 32)
		case *End:
			e.ModelDigest = strings.Repeat("01", 32)
		}
		if err := validate(t, s, encode(t, e)); err != nil {
			t.Errorf("event %d, %s: %v", i, encode(t, e), err)
		}
	}
	for _, e := range []Event{
		&Plan{Arms: []Arm{{Name: "cold", State: StateCold, Args: []string{"metal"}, Env: map[string]string{"A": "b"}, Levels: map[string]string{"cache": "cold"}, Cache: "half"}},
			Blocks: 6, Order: "random", Seed: 1 << 63, Until: 0.02, Factors: []string{"cache"}, Coverage: &Coverage{
				Full:   Foretold{Prompt: 3, Steps: 2, Needs: []Need{{Library: "Cast", Function: "f", Constants: "10:bool=1", Phase: names.SpanStep, Step: 1}}},
				WarmUp: Foretold{Prompt: 3, Needs: []Need{{Library: "Cast", Function: "g", Phase: names.SpanBuild}}}, Smallest: Foretold{Prompt: 1, Steps: 1}}},
		&Subject{Weights: WeightsPacked},
		&Start{Run: 1, Block: 1, Arm: "cold"},
		&Exit{Run: 1, Spawned: 5, Reaped: 6, Code: -1, Signal: "killed", Error: "e", Refused: "r", RefusedCode: RefusedEvidence, Flags: []string{"load: f"}, Taints: []Taint{{TaintLoad, 0.5, "f"}}, MaxRSS: 7},
	} {
		if err := validate(t, s, encode(t, e)); err != nil {
			t.Errorf("%s: %v", encode(t, e), err)
		}
	}
	kept, err := filepath.Glob("../recorded/*" + Ending)
	if err != nil || len(kept) == 0 {
		t.Fatalf("no recordings are kept: %v", err)
	}
	for _, path := range kept {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		plain, err := unpacked(bufio.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(plain)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range slices.Collect(bytes.Lines(b)) {
			if err := validate(t, s, line); err != nil {
				t.Errorf("%s:%d: %v", path, n+1, err)
				break
			}
		}
	}
}

func TestSchemaRefuses(t *testing.T) {
	s := schema(t)
	for _, line := range []string{
		`{}`, `{"k":5}`, `[]`,
		`{"k":"span","id":0,"in":0,"name":"a","start":1,"end":2}`,
		`{"k":"span","id":1,"in":0,"name":"","start":1,"end":2}`,
		`{"k":"span","id":1,"in":0,"name":"a","start":1,"end":-2}`,
		`{"k":"span","id":1,"in":0,"name":"a","start":1.5,"end":2}`,
		`{"k":"span","id":1,"in":0,"name":"a","start":1,"end":9007199254740993}`,
		`{"k":"count","in":0,"name":"a","at":2}`,
		`{"k":"note","text":"a","more":1}`,
		`{"k":"header","format":"other"}`,
		`{"k":"library","span":1,"name":"Gemm","source_bytes":1,"kernels":1,"cache":"perhaps"}`,
		`{"k":"span","id":1,"in":0,"name":"a","track":-1,"start":1,"end":2}`,
		`{"k":"operation","id":0,"layer":0,"name":"attn_q","kernel":"k","read_bytes":1,"written_bytes":1,"operations":1}`,
		`{"k":"operation","id":1,"layer":-2,"name":"attn_q","kernel":"k","read_bytes":1,"written_bytes":1,"operations":1}`,
		`{"k":"operation","id":1,"layer":0,"name":"attn_q","kernel":"k","read_bytes":-1,"written_bytes":1,"operations":1}`,
		`{"k":"executed","span":1,"operations":[],"start_ns":[],"ns":[]}`,
		`{"k":"executed","span":1,"operations":[1],"start_ns":[1.5],"ns":[1]}`,
		`{"k":"limit","what":"float32","threads":0,"best":2,"median":1,"samples":3,"kernel":"go"}`,
		`{"k":"limit","what":"float32","threads":1,"best":2,"median":0,"samples":3,"kernel":"go"}`,
		`{"k":"output","at_ns":1,"stream":"stdin","bytes":2}`,
		`{"k":"dispatch","span":1,"library":"l","function":"f","grid":[1,1],"group":[1,1,1],"threads":false}`,
		`{"k":"end","at_ns":1,"code":0,"major_faults":0,"minor_faults":0,"span_cost_ps":0,"lost":-1}`,
	} {
		if validate(t, s, []byte(line)) == nil {
			t.Errorf("%s is taken", line)
		}
	}
	if err := validate(t, s, []byte(`{"k":"of a later introgen","x":1}`)); err != nil {
		t.Errorf("an unknown kind is refused: %v", err)
	}
}

// TestSchemaIsComplete: every key that an event can have stands in the schema,
// and no other.
func TestSchemaIsComplete(t *testing.T) {
	b, err := os.ReadFile("recording.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Defs map[string]struct {
			Properties map[string]json.RawMessage `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	types := map[string]any{"tool": Tool{}, "program": Program{}, "host": Host{}, "model": Model{}, "knob": Knob{}, "view": View{}, "arm": Arm{}, "cacheFolder": CacheFolder{}, "archive": Archive{}, "missed": Missed{},
		"taint": Taint{}, "coverage": Coverage{}, "foretold": Foretold{}, "need": Need{}, "logit": logitLine{}, "span": trace.Record{}, "count": trace.Sample{}}
	for _, e := range []Event{&Header{}, &Plan{}, &Start{}, &Exit{}, &Subject{}, &Device{}, &Library{}, &Pipeline{}, &Dispatch{}, &Barrier{}, &Output{}, &Kernel{}, &Operation{}, &Executed{}, &Limit{}, &Round{}, &Evidence{}, &Machine{}, &Note{}, &End{}} {
		types[e.Kind()] = e
	}
	for name, v := range types {
		want := []string{}
		rt := reflect.TypeOf(v)
		if rt.Kind() == reflect.Pointer {
			rt = rt.Elem()
			want = append(want, "k")
		}
		for i := range rt.NumField() {
			key, _, _ := strings.Cut(rt.Field(i).Tag.Get("json"), ",")
			want = append(want, key)
		}
		switch name {
		case "span", "count":
			want = append(want, "k")
		case "round":
			want = append(want, "text_bytes")
		}
		slices.Sort(want)
		var got []string
		for key := range doc.Defs[name].Properties {
			got = append(got, key)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s has the keys %q in the schema, and %q in Go", name, got, want)
		}
	}
	if shared := 1; len(doc.Defs) != len(types)+shared { // "size" is a list of three numbers
		t.Errorf("the schema has %d definitions, Go has %d types", len(doc.Defs), len(types))
	}
}

// TestRequiredKeys: what a line is refused without is what the schema requires;
// of a header, behind which all else stands, the schema alone requires it.
func TestRequiredKeys(t *testing.T) {
	text, err := os.ReadFile("recording.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs map[string]struct {
			Required []string `json:"required"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	for _, e := range append(small(), foreign()...) {
		if _, unknown := e.(*Unknown); unknown || e.Kind() == kindHeader {
			continue
		}
		want := slices.DeleteFunc(slices.Clone(schema.Defs[e.Kind()].Required), func(key string) bool { return key == "k" })
		var got []string
		for _, f := range required(e) {
			got = append(got, f.Tag.Get("json"))
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("%s: %q are required, the schema has %q", e.Kind(), got, want)
		}
		for _, key := range got {
			var line map[string]any
			if err := json.Unmarshal(encode(t, e), &line); err != nil {
				t.Fatal(err)
			}
			was := line[key]
			delete(line, key)
			text, err := json.Marshal(line)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := new(decoder).decode(text); err == nil {
				t.Errorf("%s is taken without %q", e.Kind(), key)
			}
			// Null is no value; a writer has it in place of a list that is none.
			value := reflect.ValueOf(was)
			if line[key] = nil; !value.IsValid() || value.Kind() == reflect.Slice || value.Kind() == reflect.Map {
				continue
			}
			if text, err = json.Marshal(line); err != nil {
				t.Fatal(err)
			}
			if _, err := new(decoder).decode(text); err == nil {
				t.Errorf("%s with null as %q: %v", e.Kind(), key, err)
			}
		}
	}
}
