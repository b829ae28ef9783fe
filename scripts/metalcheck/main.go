// Command metalcheck runs the conformance list of the apple driver and writes
// one report: `make metal-check`. On a Mac it checks what no other machine can
// show (docs/metal.md); on Linux it runs the same list through the stand-in
// for Apple's libraries, as far as that goes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple"
	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/metalshim/drivers"
	"github.com/introgen/introgen/metalshim/soft/clang"
)

func main() {
	out := flag.String("out", "metal-check", "the `folder` for the report, the outputs of the steps and the recordings")
	only := flag.String("only", "", "run the steps whose names have `TEXT` in them")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := check(ctx, *out, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "metal-check:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// check runs the list and writes the report. ok is false where a step failed.
func check(ctx context.Context, folder, only string) (ok bool, err error) {
	folder, err = filepath.Abs(folder)
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return false, err
	}
	if runtime.GOOS != "darwin" {
		fmt.Println("metal-check: this is no Mac, so most of what counts is not shown; the list runs through the stand-in for Apple's libraries")
		if os.Getenv(apple.EnvStandIn) == "" {
			if err := os.Setenv(apple.EnvStandIn, "build"); err != nil {
				return false, err
			}
		}
	}
	r := &report{Begun: time.Now(), Machine: machine(ctx)}
	w, err := look(ctx)
	if err != nil {
		return false, err
	}
	r.Device, r.System = w.device, w.system
	program := filepath.Join(folder, "introgen")
	if err := build(ctx, program); err != nil {
		return false, err
	}
	for _, s := range steps(program, folder) {
		if ctx.Err() != nil || !strings.Contains(s.name, only) {
			continue
		}
		o := outcome{Skipped: 1, Leaks: -1, Notes: []string{w.lacks(s)}}
		if o.Notes[0] == "" {
			o = run(ctx, s, folder)
		}
		r.add(s, o)
		fmt.Println(r.line(len(r.Steps) - 1))
	}
	r.Took = time.Since(r.Begun)
	path := filepath.Join(folder, "metal-check.txt")
	if err := os.WriteFile(path, []byte(r.String()), 0o644); err != nil {
		return false, err
	}
	fmt.Printf("%s\nmetal-check: the report is %s\n", r.headline(), path)
	return r.ok() && ctx.Err() == nil, ctx.Err()
}

// build makes the program without cgo, as a user of a release has it.
func build(ctx context.Context, program string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/introgen")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// world is what there is to check.
type world struct {
	device, system string
	none           string // why there is no device, or ""
	simd           bool   // models run on it
}

// look opens the device once. That there is none is no error.
func look(ctx context.Context) (world, error) {
	d, err := drivers.Open(ctx, drivers.Apple, drivers.Options{})
	var absent *clang.Error
	switch {
	case errors.Is(err, metalshim.ErrNoDevice), errors.Is(err, standin.ErrCompiler), errors.Is(err, standin.ErrSystem), errors.As(err, &absent):
		return world{device: "none", none: err.Error()}, nil
	case err != nil:
		return world{}, err
	}
	defer d.Close()
	w := world{device: d.Info().String(), system: d.System(), simd: true}
	if err := d.Models(); err != nil {
		w.simd = false
		fmt.Println("metal-check:", err)
	}
	return w, nil
}

// lacks is why a step cannot be run here, or "".
func (w world) lacks(s step) string {
	switch {
	case w.none != "":
		return "SKIP: needs a Metal device: " + w.none
	case s.mac && runtime.GOOS != "darwin":
		return "SKIP: needs a Mac"
	case s.without && w.simd:
		return "SKIP: needs a device below Apple7; this one has simdgroups"
	case s.model && !w.simd:
		return "SKIP: needs simdgroups, which this device has not"
	}
	return ""
}

// machine describes where this runs.
func machine(ctx context.Context) string {
	lines := []string{runtime.GOOS + "/" + runtime.GOARCH + ", " + runtime.Version()}
	for _, argv := range [][]string{{"uname", "-a"}, {"sw_vers"}, {"git", "rev-parse", "HEAD"}} {
		if text, err := exec.CommandContext(ctx, argv[0], argv[1:]...).Output(); err == nil {
			lines = append(lines, strings.Join(strings.Fields(string(text)), " "))
		}
	}
	return strings.Join(lines, "\n")
}

// run runs one step, whose output goes to a file of its own.
func run(ctx context.Context, s step, folder string) outcome {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	name := filepath.Join(folder, strings.NewReplacer(" ", "-", ",", "", "/", "-").Replace(s.name)+".out")
	f, err := os.Create(name)
	if err != nil {
		return outcome{Failed: 1, Notes: []string{err.Error()}}
	}
	defer f.Close()
	var text strings.Builder
	cmd := exec.CommandContext(ctx, s.argv[0], s.argv[1:]...)
	cmd.Env = append(os.Environ(), s.env...)
	both := io.MultiWriter(f, &text)
	cmd.Stdout, cmd.Stderr = both, both
	begun := time.Now()
	err = cmd.Run()
	o := s.judge(text.String(), err)
	o.Took = time.Since(begun)
	if ctx.Err() != nil {
		o.Failed++
		o.Notes = append(o.Notes, fmt.Sprintf("stopped after %v: %v", s.limit, ctx.Err()))
	}
	for _, bad := range complaints(text.String()) {
		o.Failed++
		o.Notes = append(o.Notes, bad)
	}
	return o
}
