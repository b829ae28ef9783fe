package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
)

// TestProgramRecordings: every command that reads recordings reads those of programs,
// says nothing of damage, and nothing of what nobody knows of a program.
func TestProgramRecordings(t *testing.T) {
	dir := t.TempDir()
	parent, child := programtest.Child()
	write := func(name string, all ...*programtest.Recording) string {
		path := filepath.Join(dir, name+recording.Ending)
		if err := os.WriteFile(path, programtest.Bytes(all...), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	files := []string{
		write("marked", programtest.Marked(programtest.Cold)), write("unmarked", programtest.Unmarked(programtest.Warm)),
		write("detailed", programtest.Detailed()), write("child", parent, child), write("silent", programtest.Silent()),
	}
	engine := write("engine", programtest.Engine(programtest.Cold))
	for _, file := range files {
		commands := [][]string{{"explain", file}, {"bill", file}, {"coverage", file}, {"compare", file}, {"remedy", file}}
		for _, as := range formatNames(format.asName) {
			args := []string{"show", file, "--as", as}
			if x, _ := formatOf(format.asName, as); x.tables != nil {
				args = append(args, "-o", filepath.Join(dir, "tables"))
			}
			commands = append(commands, args)
		}
		for _, args := range commands {
			var out, errs bytes.Buffer
			code := run(t.Context(), append([]string{"introgen"}, args...), &out, &errs)
			if code != exitOK || errs.Len() > 0 || out.Len() == 0 {
				t.Errorf("%q: exit code %d, %d bytes, %s", args, code, out.Len(), &errs)
			}
			for _, unknown := range []string{"0 ids", " 0 tokens", "prompt_tokens", "\"ids\"", "tokenizer", "%!", "(0 tokens"} {
				if strings.Contains(out.String(), unknown) {
					t.Errorf("%q speaks of %q:\n%s", args, unknown, &out)
				}
			}
		}
	}
	for _, args := range [][]string{{"diff", files[0], write("warm", programtest.Marked(programtest.Warm))}, {"diff", files[0], engine, "--mixed"}} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), append([]string{"introgen"}, args...), &out, &errs); code != exitOK || !strings.Contains(out.String(), "Compile") {
			t.Errorf("%q: exit code %d, %s%s", args, code, &errs, &out)
		}
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"introgen", "explain", files[0], files[1]}, &out, &errs); code != exitFailed || !strings.Contains(errs.String(), "program: ") {
		t.Errorf("two programs as one: exit code %d, %s", code, &errs)
	}
	if code := run(t.Context(), []string{"introgen", "coverage", engine}, &out, &errs); code != exitFailed || !strings.Contains(errs.String(), "it holds no recorded program") {
		t.Errorf("coverage of an engine's run: exit code %d, %s", code, &errs)
	}
}
