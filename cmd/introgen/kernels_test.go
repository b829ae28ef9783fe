package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/introgen/introgen/engine/metal/kernels/candle"
	"github.com/introgen/introgen/system/tools"
	"github.com/rogpeppe/go-internal/testscript"
)

// cargoFolders are the folders of cargo and rustup, by the variables that name
// them; those of rustup only where the variable or a toolchain says so, since
// introgen finds them else. Where there is none rustup makes an empty folder the
// first time that it is called.
func cargoFolders() map[string]string {
	out := map[string]string{}
	home, _ := os.UserHomeDir()
	for name, below := range map[string]string{"CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup"} {
		if out[name] = os.Getenv(name); out[name] == "" {
			out[name] = filepath.Join(home, below)
		}
	}
	toolchains, _ := filepath.Glob(filepath.Join(out["RUSTUP_HOME"], "toolchains", "*"))
	if os.Getenv("RUSTUP_HOME") == "" && len(toolchains) == 0 {
		delete(out, "RUSTUP_HOME")
	}
	return out
}

// cargoHolds says why the scripts cannot let cargo get candle's kernels without
// a network.
func cargoHolds(ctx context.Context) error {
	if _, err := tools.Find(ctx, "cargo"); err != nil {
		return fmt.Errorf("needs cargo: %w", err)
	}
	pattern := filepath.Join(cargoFolders()["CARGO_HOME"], "registry", "cache", "*", "candle-metal-kernels-"+candle.Experiment+".crate")
	if found, err := filepath.Glob(pattern); err != nil || len(found) == 0 {
		return fmt.Errorf("needs %s in cargo's cache; `make setup` brings it", pattern)
	}
	return nil
}

var compiledLine = regexp.MustCompile(`(?m)^((?:LIB |PIPE) .*?) +\d+\.\d+ ms.*$`)

// compiledList keeps of a file, or of stdout, what was compiled, without times:
// compiled stdout got.txt.
func compiledList(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: compiled FROM TO")
	}
	var b strings.Builder
	for _, m := range compiledLine.FindAllStringSubmatch(ts.ReadFile(args[0]), -1) {
		b.WriteString(m[1] + "\n")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o666))
}
