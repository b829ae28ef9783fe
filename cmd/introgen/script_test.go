package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/results/store"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain keeps the recordings of runs within tests out of the user's folder.
func TestMain(m *testing.M) {
	testscript.Main(inFolder{m}, map[string]func(){"introgen": main})
}

type inFolder struct{ m *testing.M }

func (i inFolder) Run() int {
	dir, err := os.MkdirTemp("", "introgen-state-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	// Whoever keeps no recordings of their own may run the tests that do.
	if err := errors.Join(os.Setenv(store.DirEnv, dir), os.Unsetenv(store.KeepEnv)); err != nil {
		panic(err)
	}
	return i.m.Run()
}

// TestScripts runs testdata/script/*.txtar: the commands as a user types them.
// The scripts see the real models folder, and no other cache of the user's.
func TestScripts(t *testing.T) {
	dir, err := models.Dir()
	if err != nil {
		t.Fatal(err)
	}
	_, absent := os.Stat(filepath.Join(dir, models.StandIn))
	recorded, err := filepath.Abs(filepath.Join("..", "..", "results", "recorded"))
	if err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	// Where testscript has put introgen, for scripts that have no other PATH.
	bin, err := exec.LookPath("introgen")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv(models.DirEnv, dir)
			e.Setenv("Q8", filepath.Join(dir, models.StandIn))
			e.Setenv("Q4", filepath.Join(dir, models.Source))
			e.Setenv("RECORDED", recorded)
			e.Setenv("EXAMPLES", examples)
			e.Setenv("BIN", filepath.Dir(bin))
			// cargo and rustup look for what they have below HOME.
			for name, path := range cargoFolders() {
				e.Setenv(name, path)
			}
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, "cache"))
			e.Setenv(store.DirEnv, filepath.Join(e.WorkDir, "state"))
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond == "model" {
				if absent != nil {
					t.Logf("SKIP: needs the model %s in %s; `make setup` brings it", models.StandIn, dir)
				}
				return absent == nil, nil
			}
			if cond == "clang" {
				_, err := clang.Find(t.Context())
				if err != nil {
					t.Logf("SKIP: needs clang 19: %v", err)
				}
				return err == nil, nil
			}
			if cond == "cargo" {
				err := cargoHolds(t.Context())
				if err != nil {
					t.Logf("SKIP: %v", err)
				}
				return err == nil, nil
			}
			return cpuCondition(cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"mask":      maskTimes,
			"compiled":  compiledList,
			"truncate":  truncated,
			"recompute": recompute,
			"laidout":   laidOut,
			"profiled":  profiledBy,
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

var masks = []struct {
	re *regexp.Regexp
	by string
}{
	{regexp.MustCompile(`\d+\.\d+ ms`), "T ms"},
	{regexp.MustCompile(`(decode steps \(ms\):)( \d+\.\d+)+`), "$1 T…"},
	{regexp.MustCompile(`[\d.]+ % of the file in the page cache( after eviction)?`), "P % of the file in the page cache"},
	{regexp.MustCompile(`; (cpu: |metal \()(?:(?:soft|apple): )?.*; tokenizer (go|hf),`), "; ${1}HERE; tokenizer ANY,"},
	{regexp.MustCompile(`(?m)^(LIB |PIPE) (.*) \d+\.\d+ ms$`), "$1 $2 T ms"},
	{regexp.MustCompile(`(?m)^(# cache: )[^;]*; (?:no nonce|nonce "[^"]*"); .*$`), "${1}EVIDENCE"},
	{regexp.MustCompile(`(?s)\nlibrary +source bytes.*`), "\nTABLES\n"},
	{regexp.MustCompile(`\d+\.\d+ GB/s`), "B GB/s"},
}

// masked replaces everything that differs between two runs or machines.
func masked(text string) string {
	for _, m := range masks {
		text = m.re.ReplaceAllString(text, m.by)
	}
	return text
}

// maskTimes copies a file, or stdout, to another, masked: mask stdout got.txt.
func maskTimes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mask FROM TO")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(masked(ts.ReadFile(args[0]))), 0o666))
}

// truncated copies the first bytes of a file: truncate FROM TO BYTES.
func truncated(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: truncate FROM TO BYTES")
	}
	n, err := strconv.ParseInt(args[2], 10, 64)
	ts.Check(err)
	in, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer in.Close()
	out, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	_, err = io.CopyN(out, in, n)
	ts.Check(errors.Join(err, out.Close()))
}
