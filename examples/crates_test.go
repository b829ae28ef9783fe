package examples_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim/soft/clang"
)

// envAll asks for the programs whose first build takes long, too: `make
// programs` sets it.
const envAll = "INTROGEN_PROGRAMS"

// buildLimit is how long a first build may take on a busy machine, and runLimit a
// run, which compiles the program's kernels the first time.
const (
	buildLimit = 25 * time.Minute
	runLimit   = 10 * time.Minute
)

// unreachable is what Cargo says where the registry does not answer.
var unreachable = regexp.MustCompile(`(?i)failed to (download|fetch) |could not resolve host|spurious network error|unable to update registry|you may be in offline mode`)

// built is the program of a folder, in a debug build or a release build. Debug
// builds of objc2 check the encoding of every message.
func built(t *testing.T, folder, profile string) string {
	t.Helper()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("SKIP: needs Linux or macOS")
	}
	if err := exec.CommandContext(t.Context(), "cargo", "--version").Run(); err != nil { // rustup's is there before any Rust is
		t.Skipf("SKIP: needs cargo: %v", err)
	}
	if _, err := os.Stat("../bin/introgen"); err != nil {
		t.Skip("SKIP: needs bin/introgen: make setup")
	}
	if _, err := clang.Find(t.Context()); err != nil && runtime.GOOS == "linux" {
		t.Skipf("SKIP: needs clang 19: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), buildLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "../scripts/metal-crate", folder, profile)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	text := errs.String()
	switch {
	case err != nil && unreachable.MatchString(text):
		t.Skipf("SKIP: needs the crates' registry: %s", text)
	case err != nil:
		t.Fatalf("%v\n%s", err, text)
	}
	return strings.TrimSpace(out.String())
}

// output runs a program and returns what it writes to stdout.
func output(t *testing.T, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", errors.Join(err, ctx.Err()), out.String(), errs.String())
	}
	return out.String()
}

// candle's operations give on the device what candle's CPU backend gives. That
// quantizes activations to 8 bits before it multiplies them with quantized
// weights, and so errs by up to a percent.
func TestCandleOperations(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: needs time to build")
	}
	tolerances := map[string]float64{
		"matmul": 1e-5, "matmul_batched": 1e-5, "softmax": 1e-5, "rms_norm": 1e-5, "rope_i": 1e-5, "silu": 1e-5, "sum": 1e-5,
		"argmax": 0, "gather": 0, "half": 2e-3, "cat": 0, "attention": 1e-5,
		"q8_0_row": 1e-2, "q8_0_rows": 1e-2, "q4_0_rows": 1e-2, "q6k_row": 1e-2,
	}
	for line := range strings.Lines(output(t, built(t, "candle-ops", "debug"))) {
		field := strings.Fields(line)
		if len(field) != 4 {
			t.Fatalf("%q", line)
		}
		count, err1 := strconv.Atoi(field[1])
		largest, err2 := strconv.ParseFloat(field[2], 64)
		difference, err3 := strconv.ParseFloat(field[3], 64)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		tolerance, known := tolerances[field[0]]
		delete(tolerances, field[0])
		if !known || count == 0 || largest == 0 || !(difference <= tolerance*largest) {
			t.Errorf("%s: %d numbers of up to %g differ by %g from the CPU's, allowed is %g of the largest", field[0], count, largest, difference, tolerance)
		}
	}
	for name := range tolerances {
		t.Errorf("%s was not run", name)
	}
}

// all skips a program whose first build takes long, unless it is asked for.
func all(t *testing.T) {
	t.Helper()
	if os.Getenv(envAll) == "" {
		t.Skip("SKIP: needs minutes to build: make programs")
	}
}

// Unmodified candle gives the exact greedy ids of the model, and with the
// encodings of every message checked the same.
func TestCandleGenerates(t *testing.T) {
	all(t)
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(cache, "introgen", "models", "SmolLM2-135M-Instruct.Q8_0.gguf")
	if _, err := os.Stat(model); err != nil {
		t.Skip("SKIP: needs the model: make setup")
	}
	// Of an engine in float64 over the dequantized weights.
	const want = "66 467 314 253 2148 28 904 29 4638 28 2091 947 30473 28 284 29444 30473 6256 1789 2452 411"
	for _, profile := range []string{"release", "debug"} {
		if got := strings.TrimSpace(output(t, built(t, "candle", profile), model)); got != want {
			t.Errorf("%s: %s\nwant %s", profile, got, want)
		}
	}
}

// tract reaches Metal by metal-rs, with kernels and memory of its own; the program
// compares with tract's CPU backend.
func TestTract(t *testing.T) {
	all(t)
	const want = "(1, 64, 48): 64 numbers of the Metal backend are those of the CPU's\n" +
		"(13, 64, 96): 832 numbers of the Metal backend are those of the CPU's\n" +
		"(40, 192, 576): 7680 numbers of the Metal backend are those of the CPU's\n"
	if got := output(t, built(t, "tract", "debug")); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The settings for a crate name, for each crate that asks for a framework of Apple's,
// a copy that does not, and the SDK's library.
func TestCrateConfig(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIP: on a Mac nothing is changed")
	}
	crate := filepath.Join(t.TempDir(), "settings") // Cargo.lock is written beside Cargo.toml
	if err := os.CopyFS(crate, os.DirFS("candle-ops")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(built(t, crate, "config"))
	if err != nil {
		t.Fatal(err)
	}
	patch := regexp.MustCompile(`(?m)^patch\.crates-io\.objc2-metal\.path="(.+)"$`).FindSubmatch(text)
	if patch == nil || !bytes.Contains(text, []byte("-Wl,-rpath,")) {
		t.Fatalf("the settings are\n%s", text)
	}
	source, err := os.ReadFile(filepath.Join(string(patch[1]), "src", "generated", "mod.rs"))
	if err != nil {
		t.Fatal(err)
	}
	if len(source) == 0 || bytes.Contains(source, []byte(`kind = "framework"`)) {
		t.Errorf("%s has %d bytes, and still names a framework", patch[1], len(source))
	}
}
