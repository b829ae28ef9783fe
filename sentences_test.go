package introgen_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// takesApart are the functions that find something in a text.
var takesApart = regexp.MustCompile(`^(?:(?:strings|bytes)\.(?:Contains|Count|Cut|CutPrefix|CutSuffix|Fields|FieldsFunc|FieldsSeq|HasPrefix|HasSuffix|Index|LastIndex|Split|SplitAfter|SplitN|SplitSeq|TrimPrefix|TrimSuffix)|regexp\.(?:Compile|MustCompile))$`)

// whoseText are the files, and folders, that read recordings or make plans and
// still take texts apart, with whose texts these are. What introgen has written
// for people is read by nobody: beside such a sentence stands a code.
var whoseText = map[string]string{
	"bench/phasefault":                   "what the user wrote in a flag",
	"bench/plan/run.go":                  "the last line that a process said, to be shown; and lines of JSON",
	"bench/plan/surroundings.go":         "command lines",
	"bench/plan/scratch.go":              "names of folders",
	"bench/pauses.go":                    "what the user wrote in a flag",
	"bench/prompt.go":                    "what the user wrote in a flag",
	"cmd/introgen/bench.go":              "a flag's values in a recording's header, which holds them as one text",
	"cmd/introgen/compare.go":            "command lines",
	"cmd/introgen/coverage.go":           "what the user wrote in a flag",
	"cmd/introgen/diff.go":               "what the user wrote in a flag",
	"cmd/introgen/formats.go":            "names of files",
	"cmd/introgen/header.go":             "variables of the environment",
	"cmd/introgen/list.go":               "the name of a model file",
	"cmd/introgen/programs.go":           "what the user wrote in a flag",
	"cmd/introgen/remedy_plan.go":        "names of files",
	"cmd/introgen/report.go":             "names of files",
	"cmd/introgen/template.go":           "what a chat template wrote, and what the user wrote in a flag",
	"cmd/introgen/vocabulary.go":         "a prompt, in which marks of the model are looked for",
	"cmd/introgen/version.go":            "versions that Go makes of commits",
	"record/assemble/compile.go":         "what the recorder says of a source, and errors of compilers",
	"record/record.go":                   "variables of the environment",
	"results/answers/idlegap/idlegap.go": "what the user wrote in a flag",
	"results/answers/remedy/measured.go": "keys of remedies, which a plan's arms hold joined",
	"results/benchtext/kind.go":          "names of the Go benchmark format",
	"results/benchtext/write.go":         "how many lines there are so far",
	"results/compileplan/constant.go":    "function constants, which have one exact form in a recording, and values in a plan",
	"results/compileplan/read.go":        "JSON",
	"results/diff/encoding.go":           "marks of the byte order",
	"results/diff/document.go":           "texts of golang.org/x/perf",
	"results/diff/judge.go":              "errors of golang.org/x/perf",
	"results/diff/source.go":             "the output of Go programs",
	"results/live":                       "what a browser asks for",
	"results/start/beside.go":            "a flag's value in a recording's header: --compile",
	"results/parquet":                    "names of files",
	"results/page":                       "any text that is to be set: how it begins and ends, and the commands in it",
	"results/recording/beside.go":        "names of files",
	"results/recording/decode.go":        "lines of a recording, and tags of Go's structs",
	"results/recording/encode.go":        "JSON",
	"results/recording/made.go":          "names in a span's detail, where the event that says them apart is missing",
	"results/recording/read.go":          "lines of a recording",
	"results/recording/old.go":           "sentences of recordings that were made before there were codes",
	"results/sanitize":                   "any text that is to be made harmless",
	"results/shellwords":                 "command lines",
	"results/store":                      "names of files",
	"results/table":                      "any text that is to be broken into lines or escaped",
	"results/timeline/timeline.go":       "names of files",
	"scripts/candleplan/recorded.go":     "ids that a program prints",
	"scripts/recordcost/main.go":         "the time that a program prints",
	"scripts/reference/experiment":       "the output of the experiment",
}

// TestNoSentenceIsRead: whoever reads a recording, or makes a plan, decides by
// codes and figures, not by words that were written for people.
func TestNoSentenceIsRead(t *testing.T) {
	used := map[string]bool{}
	for name, text := range tracked(t) {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			continue
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, filepath.FromSlash(name), text, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		if !readsRecordings(name, f) {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			of, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := of.X.(*ast.Ident)
			if !ok || !takesApart.MatchString(pkg.Name+"."+of.Sel.Name) {
				return true
			}
			for at := name; at != "."; at = path.Dir(at) {
				if whoseText[at] != "" {
					used[at] = true
					return true
				}
			}
			t.Errorf("%s takes a text apart (%s.%s): if introgen wrote it, put a code beside it; if not, say in whoseText whose it is", files.Position(n.Pos()), pkg.Name, of.Sel.Name)
			return true
		})
	}
	for name := range whoseText {
		if !used[name] {
			t.Errorf("%s takes no text apart: leave it out of whoseText", name)
		}
	}
}

// readsRecordings says whether a file belongs to what runs and reads, or uses
// any of it.
func readsRecordings(name string, f *ast.File) bool {
	if strings.HasPrefix(name, "results/") || strings.HasPrefix(name, "bench/") {
		return true
	}
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err == nil && (strings.HasPrefix(p, module+"/results/answers/") || p == module+"/results/recording" || p == module+"/results/breakdown") {
			return true
		}
	}
	return false
}
