package view_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/benchtext"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/console"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table/tabletest"
	"github.com/introgen/introgen/results/view"
)

// TestPrograms holds every form of recorded programs to a file whose figures were
// worked out by hand, and looks that none speaks of what nobody knows of them.
func TestPrograms(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8") // the terminal shows blocks
	t.Setenv("TERM", "xterm")
	parent, child := programtest.Child()
	text := func(w io.Writer, f *recording.File) error {
		p := console.New(w)
		for e, err := range recording.Events(bytes.NewReader(written(f))) {
			if err != nil {
				return err
			}
			if err := p.Event(e); err != nil {
				return err
			}
		}
		return p.Close()
	}
	for name, all := range map[string][]*programtest.Recording{
		"marked": {programtest.Marked(programtest.Cold)}, "unmarked": {programtest.Unmarked(programtest.Natural)}, "child": {parent, child}, "silent": {programtest.Silent()},
	} {
		for form, write := range map[string]func(io.Writer, *recording.File) error{
			"table": view.Table, "json": view.JSON, "samples": view.CSV, "bench": benchtext.Write, "text": text,
		} {
			f := programtest.File(all...)
			source = all
			var b strings.Builder
			if err := write(&b, f); err != nil {
				t.Fatal(err)
			}
			for _, unknown := range []string{"0 ids", `"ids"`, "prompt", "tokens", "engine", "kernels own", "model"} {
				if strings.Contains(strings.ReplaceAll(strings.ReplaceAll(b.String(), "model.gguf", ""), "build model", ""), unknown) && form != "json" {
					t.Errorf("%s as %s speaks of %q", name, form, unknown)
				}
			}
			tabletest.Golden(t, name+"-"+form+".txt", b.String())
		}
	}
	token1, decode := view.Listed(breakdown.Of(programtest.File(programtest.Marked(programtest.Cold))))
	if token1 != "730.0" || decode != "50.0" {
		t.Errorf("listed with %q and %q", token1, decode)
	}
}

// source is what the file under test was made of.
var source []*programtest.Recording

func written(*recording.File) []byte { return programtest.Bytes(source...) }

// TestPlanOfPrograms: the processes that a plan's program started are shown with it.
func TestPlanOfPrograms(t *testing.T) {
	f := programtest.Plan("compare", nil, 1, []recording.Arm{{Name: "a", Args: []string{"record", "--", "./serve"}}}, func(int, int) *programtest.Recording {
		parent, child := programtest.Child()
		parent.Events = append(parent.Events, child.Events...)
		return parent
	})
	if len(f.Warnings) > 0 || len(f.Runs) != 1 || !f.Runs[0].Counts() {
		t.Fatalf("%d runs, warnings %q", len(f.Runs), f.Warnings)
	}
	for form, write := range map[string]func(io.Writer, *recording.File) error{"table": view.Table, "json": view.JSON} {
		var b strings.Builder
		if err := write(&b, f); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"./serve", "./worker", "Reduce"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s is without %q", form, want)
			}
		}
	}
}
