package code_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/compileplan"
	"github.com/introgen/introgen/results/compileplan/code"
	"github.com/introgen/introgen/system/pythontest"

	_ "embed"
)

// names are what a recording may call a library: they would end a literal or a comment
// of one of the languages, or begin something in it.
var names = []string{
	`plain`, `"; evil(); //`, `\"; evil(); //`, `\`, "two\nlines", `\(evil())`, `\u{41}`, `??/`, `*/ evil() /*`, `"#`, "${evil}", "{{evil}}", "%s%n",
	"\u202eliveb", "Größe \U0001F600", "\x01\x7f\ufeff", "e\u0301",
}

// hostile is a plan with these names, and a constant of every type that has an edge.
func hostile() *compileplan.Plan {
	p := &compileplan.Plan{Format: compileplan.Format, Version: compileplan.Version, From: "a run\n}; evil(); \\\n??/", Driver: "soft",
		Left: []compileplan.Left{{Library: "gone\n", Function: `\`, Why: "\u202eyhw"}}}
	for i, n := range names {
		l := compileplan.Library{Name: n, SourceBytes: len(source), Phase: "start"}
		l.Pipelines = append(l.Pipelines,
			compileplan.Pipeline{Function: "plain", Phase: "start", Need: 2*i + 1},
			compileplan.Pipeline{Function: "special", Phase: "start", Need: 2*i + 2, Constants: edges[i%len(edges)]})
		p.Libraries = append(p.Libraries, l)
	}
	return p
}

// source is that of every library of hostile.
const source = `#include <metal_stdlib>
using namespace metal;
constant bool flag [[function_constant(0)]];
constant float number [[function_constant(1)]];
constant int whole [[function_constant(2)]];
constant uint natural [[function_constant(3)]];
constant short narrow [[function_constant(4)]];
constant uchar byte [[function_constant(65535)]];
kernel void plain(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = i; }
kernel void special(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
	out[i] = i;
	if (is_function_constant_defined(flag) && flag) out[i] += 1;
	if (is_function_constant_defined(number)) out[i] += number;
	if (is_function_constant_defined(whole)) out[i] += whole;
	if (is_function_constant_defined(natural)) out[i] += natural;
	if (is_function_constant_defined(narrow)) out[i] += narrow;
	if (is_function_constant_defined(byte)) out[i] += byte;
}
`

var edges = [][]compileplan.Constant{
	{{Index: 0, Type: "bool", Value: "1"}, {Index: 1, Type: "float", Value: "0.1"}},
	{{Index: 1, Type: "float", Value: "0x7fc00001"}},
	{{Index: 1, Type: "float", Value: "-0"}, {Index: 2, Type: "int", Value: "-2147483648"}},
	{{Index: 3, Type: "uint", Value: "4294967295"}, {Index: 4, Type: "short", Value: "-1"}},
	{{Index: 65535, Type: "uchar", Value: "255"}},
	{{Index: 1, Type: "float", Value: "1e-45"}},
	{{Index: 1, Type: "float", Value: "+Inf"}},
}

func written(t *testing.T, name string, p *compileplan.Plan) []byte {
	t.Helper()
	for _, l := range code.Languages {
		if l.Name != name {
			continue
		}
		var b bytes.Buffer
		if err := l.Write(&b, p); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	t.Fatalf("no language %s", name)
	return nil
}

// TestPagesArePlain: a page is ASCII but for what its own comments have, and no line of
// it begins in the middle of what a recording says.
func TestPagesArePlain(t *testing.T) {
	for _, l := range code.Languages {
		page := string(written(t, l.Name, hostile()))
		for i, line := range strings.Split(page, "\n") {
			before, _, _ := strings.Cut(line, "//")
			for _, r := range before {
				if r != '\t' && (r < ' ' || r > '~') {
					t.Errorf("%s, line %d holds %q", l.Name, i+1, r)
				}
			}
			if strings.HasPrefix(strings.TrimSpace(line), "evil") || strings.Contains(line, "??/") || strings.HasSuffix(line, `\`) {
				t.Errorf("%s, line %d: %s", l.Name, i+1, line)
			}
		}
	}
}

//go:embed testdata/swift.py
var swift string

// TestSwiftParses: no compiler of Swift is here; its grammar, as others have written it
// down for editors, finds no error, and finds one where there is one.
func TestSwiftParses(t *testing.T) {
	page := written(t, "swift", hostile())
	parse := func(page []byte) string {
		cmd := pythontest.Command(t, swift, "tree-sitter", "tree-sitter-swift")
		cmd.Stdin = bytes.NewReader(page)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	if text := parse(page); text != "" {
		t.Errorf("%s\n%s", text, page)
	}
	for _, c := range []string{"public init(device: MTLDevice,", "] = [", `\u{22}`} {
		torn := bytes.Replace(page, []byte(c), []byte(`"`), 1)
		if bytes.Equal(torn, page) || parse(torn) == "" {
			t.Errorf("a page without %s parses", c)
		}
	}
}
