package candle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/introgen/introgen/system/files"
	"github.com/introgen/introgen/system/tools"
)

// project is a throw-away package in dir that depends on one version of the
// crate, and on nothing else.
type project struct {
	cargo tools.Tool
	dir   string
	v     string
}

// create writes the package. It has a workspace of its own, so that cargo does
// not look for one in the folders above.
func (p *project) create() error {
	if err := os.MkdirAll(filepath.Join(p.dir, "src"), 0o755); err != nil {
		return err
	}
	toml := fmt.Sprintf("[package]\nname = \"kernels\"\nversion = \"0.0.0\"\nedition = \"2021\"\npublish = false\n\n[workspace]\n\n[dependencies]\n%s = { version = \"=%s\", default-features = false }\n", pkg, p.v)
	return errors.Join(
		os.WriteFile(filepath.Join(p.dir, "Cargo.toml"), []byte(toml), 0o644),
		os.WriteFile(filepath.Join(p.dir, "src", "lib.rs"), nil, 0o644))
}

// fetch lets cargo resolve the package and get its crates. What cargo holds
// already needs no network.
func (p *project) fetch(ctx context.Context) error {
	if _, err := p.run(ctx, "fetch", "--quiet", "--offline"); err == nil || ctx.Err() != nil {
		return err
	}
	_, err := p.run(ctx, "fetch", "--quiet")
	return err
}

// run runs cargo in the package's folder and returns what it prints.
func (p *project) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := p.cargo.Command(ctx, args...)
	cmd.Dir = p.dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("interrupted: %w", context.Cause(ctx))
	}
	if err != nil {
		return nil, fmt.Errorf("cargo %s: %s (%w)", args[0], complaint(stderr.String()), err)
	}
	return stdout.Bytes(), nil
}

// complaint is the lines of cargo's errors that say most: the error, what caused
// it, and the versions that there are.
func complaint(stderr string) string {
	var lines []string
	cause := false
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "error") || strings.HasPrefix(line, "candidate versions") || cause && line != "" {
			lines = append(lines, line)
		}
		cause = line == "Caused by:"
	}
	if len(lines) == 0 {
		lines = []string{strings.TrimSpace(stderr)}
	}
	return strings.Join(lines, "; ")
}

// checksum is the SHA-256 of the crate that the registry's index states, from
// the lock file that cargo has written.
func (p *project) checksum() (string, error) {
	path := filepath.Join(p.dir, "Cargo.lock")
	b, err := files.ReadAtMost(path, maxSource)
	if err != nil {
		return "", err
	}
	return locked(string(b), p.v)
}

// locked finds the checksum of a version in the text of a lock file.
func locked(lock, v string) (string, error) {
	for block := range strings.SplitSeq(lock, "[[package]]") {
		name, _ := lockValue(block, "name")
		if is, _ := lockValue(block, "version"); name != pkg || is != v {
			continue
		}
		if sum, ok := lockValue(block, "checksum"); ok && files.IsSHA256(sum) {
			return sum, nil
		}
		return "", fmt.Errorf("cargo's lock file states no checksum for %s %s", pkg, v)
	}
	return "", fmt.Errorf("cargo's lock file has no %s %s", pkg, v)
}

// lockValue reads a string of a block of Cargo.lock, where each stands on a line
// of its own.
func lockValue(block, key string) (string, bool) {
	for line := range strings.Lines(block) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), key+" = "); ok {
			return strings.Trim(value, `"`), true
		}
	}
	return "", false
}

// crateFile is where cargo keeps the crate: beside the folder of unpacked
// crates, in which the package's manifest lies.
func (p *project) crateFile(ctx context.Context) (string, error) {
	out, err := p.run(ctx, "metadata", "--offline", "--format-version", "1")
	if err != nil {
		return "", err
	}
	var meta struct {
		Packages []struct {
			Name, Version string
			ManifestPath  string `json:"manifest_path"`
		}
	}
	if err := json.Unmarshal(out, &meta); err != nil {
		return "", fmt.Errorf("cargo metadata: %w", err)
	}
	for _, c := range meta.Packages {
		if c.Name != pkg || c.Version != p.v {
			continue
		}
		unpacked := filepath.Dir(c.ManifestPath)      // registry/src/INDEX/NAME-VERSION
		index := filepath.Dir(unpacked)               // registry/src/INDEX
		registry := filepath.Dir(filepath.Dir(index)) // registry
		file := filepath.Join(registry, "cache", filepath.Base(index), filepath.Base(unpacked)+".crate")
		if _, err := os.Stat(file); err != nil {
			return "", fmt.Errorf("cargo keeps %s %s in %s without its .crate file (%w); --kernels takes the folder of its .metal files", pkg, p.v, unpacked, err)
		}
		return file, nil
	}
	return "", fmt.Errorf("cargo metadata names no %s %s", pkg, p.v)
}
