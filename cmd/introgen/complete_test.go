package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/cmd/introgen/commandline"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/store"
)

// TestComplete: what a shell offers after these words.
func TestComplete(t *testing.T) {
	state := t.TempDir()
	t.Setenv(store.DirEnv, state)
	for i := range 3 {
		path := filepath.Join(state, "recordings", fmt.Sprintf("%06d-cpu%s", i+1, recording.Ending))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for words, want := range map[string]string{
		"":                          "cpu metal record bench overhead idle-gap compare sweep bill explain remedy coverage diff show report watch list meta tokenize bandwidth cache kernels kernel model sdk doctor completion",
		"kernels":                   "fetch list show trim",
		"kernel":                    "list run test",
		"show":                      "1 2 3",
		"diff 1":                    "1 2 3",
		"explain":                   "1 2 3",
		"diff 1 --by /cache":        "1 2 3",
		"list":                      "",
		"kernels show":              "",
		"show --as":                 "text bench csv json md parquet perfetto pprof samples table",
		"show 1 --as":               "text bench csv json md parquet perfetto pprof samples table",
		"compare --st":              "--style --states",
		"cpu --th":                  "--threads",
		"bench --order":             "random abba",
		"show -":                    "--as --output -o --steps --help",
		"diff --fa":                 "--fail-above",
		"metal 1 -o":                "",
		"record -":                  "--output -o --mark --nonce --dispatches --quiet --help",
		"record --nonce -":          "--output -o --mark --nonce --dispatches --quiet --help",
		"record -- cp":              "",
		"sweep --no-such-flag":      "",
		"no-such-command":           "cpu metal record bench overhead idle-gap compare sweep bill explain remedy coverage diff show report watch list meta tokenize bandwidth cache kernels kernel model sdk doctor completion",
		"kernels show own -":        "--help",
		"cpu --fau":                 "", // hidden
		"show --as=text --as= -":    "--as --output -o --steps --help",
		"kernels trim a.metal --ke": "--keep",
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), append(strings.Fields("introgen "+words), commandline.CompletionFlag), &out, &errs)
		if got := strings.Join(strings.Fields(out.String()), " "); got != want || code != exitOK || errs.Len() > 0 {
			t.Errorf("after %q: %q, want %q; exit code %d, %q", words, got, want, code, &errs)
		}
	}
}
