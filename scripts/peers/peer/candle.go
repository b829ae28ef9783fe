package peer

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/introgen/introgen/system/tools"
)

const candleVersion = "0.11.0" // as candle/Cargo.toml pins it

// candleBuild is one way to compile candle.
type candleBuild struct {
	name   string // default, native
	flags  string // RUSTFLAGS
	family string
}

// The default build is what a newcomer gets from `cargo build --release`. The
// native one may use what this processor has: kernels that candle chooses when
// it is compiled.
var candleBuilds = []candleBuild{
	{"native", "-C target-cpu=native", "candle native"},
	{"default", "", "candle default"},
}

// Candle is a build of candle's peer. Its program is told by flags what to do.
type Candle struct {
	Name    string // default, native
	Family  string
	Built   string // version, compiler and flags, for the reader
	Program string
}

// Candle builds candle's peer, in every way.
func (s *Setup) Candle(ctx context.Context) ([]Candle, error) {
	cargo, err := tools.Find(ctx, "cargo")
	if err != nil {
		return nil, err
	}
	rustc, _ := tools.Ask(ctx, []string{"rustc", "--version"}) // "" where it does not say
	var builds []Candle
	for _, b := range candleBuilds {
		parts := []string{fingerprint("candle"), rustc, b.flags}
		if b.flags != "" {
			parts = append(parts, s.Machine.native)
		}
		dir := s.folder("candle-"+candleVersion+"-"+b.name, parts...)
		err := s.once(dir, fmt.Sprintf("candle %s, %s build: some minutes, 400 MB", candleVersion, b.name), func(log io.Writer) error {
			return cargoBuild(ctx, log, cargo, dir, b.flags)
		})
		if err != nil {
			return nil, err
		}
		program := filepath.Join(dir, "target", "release", "introgen-peer-candle")
		built := fmt.Sprintf("candle %s, %s, release", candleVersion, rustc)
		if b.flags != "" {
			built += ", " + b.flags
		}
		builds = append(builds, Candle{b.name, b.family, built, program})
	}
	return builds, nil
}

func cargoBuild(ctx context.Context, log io.Writer, cargo tools.Tool, dir, flags string) error {
	crate := filepath.Join(dir, "crate")
	if err := unpack("candle", crate); err != nil {
		return err
	}
	env := []string{"CARGO_TARGET_DIR=" + filepath.Join(dir, "target")}
	if flags != "" {
		env = append(env, "RUSTFLAGS="+flags)
	}
	argv := append(cargo.Argv, "build", "--release", "--manifest-path", filepath.Join(crate, "Cargo.toml"))
	return build(ctx, log, crate, env, argv)
}
