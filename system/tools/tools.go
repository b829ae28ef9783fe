// Package tools looks for the programs of others that set-up uses, and knows
// the one command that brings each to this system.
package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Tool is a program that was found.
type Tool struct {
	Argv    []string // how to call it
	Version string   // the first line that it says of itself
}

// Command is a call of the tool. When ctx ends it is interrupted rather than
// killed, so that it can clean up, and is given five seconds for that.
func (t Tool) Command(ctx context.Context, args ...string) *exec.Cmd {
	argv := slices.Concat(t.Argv, args)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// ErrMissing is what errors.Is finds in the error of a tool that is not there.
var ErrMissing = errors.New("missing")

// slow is how long a tool may take to say its version, the first time from a
// cold disk.
const slow = 20 * time.Second

// candidate is one way to call a tool.
type candidate struct {
	argv    []string
	version string // the argument that makes it say its version
}

// known is the tools by name, the preferred way to call each first.
var known = map[string][]candidate{
	"pip": {
		{[]string{"python3", "-m", "pip"}, "--version"},
		{[]string{"python", "-m", "pip"}, "--version"},
		{[]string{"pip3"}, "--version"},
		{[]string{"pip"}, "--version"},
	},
	"cargo":        {{[]string{"cargo"}, "--version"}},
	"cc":           {{[]string{"cc"}, "--version"}, {[]string{"gcc"}, "--version"}, {[]string{"clang"}, "--version"}},
	"go":           {{[]string{"go"}, "version"}},
	"qemu-aarch64": {{[]string{"qemu-aarch64"}, "--version"}, {[]string{"qemu-aarch64-static"}, "--version"}},
}

// Find looks for one of pip, cargo, cc, go and qemu-aarch64. The error of
// one that is not there, or does not work, wraps ErrMissing and names the
// command that brings it.
func Find(ctx context.Context, name string) (Tool, error) {
	why := "not found"
	for _, c := range known[name] {
		path, err := look(c.argv[0])
		if err != nil {
			continue
		}
		argv := slices.Concat([]string{path}, c.argv[1:])
		version, err := Ask(ctx, append(argv, c.version))
		if at := toolchains(path); err != nil && name == "cargo" && at != "" && ctx.Err() == nil {
			within := slices.Concat([]string{"env", "RUSTUP_HOME=" + at}, argv)
			if v, err2 := Ask(ctx, append(within, c.version)); err2 == nil {
				argv, version, err = within, v, nil
			}
		}
		if err == nil {
			return Tool{Argv: argv, Version: version}, nil
		}
		if ctx.Err() != nil {
			return Tool{}, ctx.Err()
		}
		// A launcher may stand there without what it launches: python3
		// without pip, rustup's cargo without a toolchain.
		why = fmt.Sprintf("%s does not work: %v", strings.Join(c.argv, " "), err)
	}
	return Tool{}, fmt.Errorf("%s is %w (%s): %s", name, ErrMissing, why, Bring(name))
}

// look finds a program on PATH, and cargo also where rustup puts it: a shell that
// was open while rustup ran, or a service, has it not on PATH.
func look(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil || name != "cargo" {
		return path, err
	}
	home, _ := os.UserHomeDir()
	for _, dir := range []string{os.Getenv("CARGO_HOME"), filepath.Join(home, ".cargo")} {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, "bin", name)); err == nil {
			return path, nil
		}
	}
	return "", err
}

// toolchains is where rustup has put what its cargo launches, if the cargo at
// path is rustup's: rustup looks below HOME, and where HOME is another one than
// it was installed with, as on a runner that gives each job its own, they still
// lie beside cargo's folder, or beside the one that a link to cargo leads to. It
// is "" where RUSTUP_HOME says where they are, and where they are not there.
func toolchains(path string) string {
	if os.Getenv("RUSTUP_HOME") != "" {
		return ""
	}
	folders := []string{filepath.Dir(path)}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		folders = append(folders, filepath.Dir(target))
	}
	for _, dir := range folders {
		for _, name := range []string{".rustup", "rustup"} {
			at := filepath.Join(dir, "..", "..", name)
			if info, err := os.Stat(at); err == nil && info.IsDir() {
				return at
			}
		}
	}
	return ""
}

// Ask runs a program to hear its version: the first line that it prints.
func Ask(ctx context.Context, argv []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, slow)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if line := firstLine(stderr.String()); line != "" {
			return "", errors.New(line)
		}
		return "", err
	}
	return firstLine(string(out)), nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// Bring is the one command that brings a tool to this system, in a sentence
// that can follow an error.
func Bring(name string) string {
	release, _ := os.ReadFile("/etc/os-release")
	return bring(name, family(runtime.GOOS, string(release)), os.Geteuid() == 0)
}

// family is the system as far as its package manager goes, "" where that is not
// known. release is the content of /etc/os-release, whose ID and ID_LIKE name
// the distribution and those it descends from (os-release(5)).
func family(goos, release string) string {
	if goos != "linux" {
		return goos
	}
	for _, key := range []string{"ID=", "ID_LIKE="} {
		for line := range strings.Lines(release) {
			value, ok := strings.CutPrefix(strings.TrimSpace(line), key)
			if !ok {
				continue
			}
			for _, id := range strings.Fields(strings.Trim(value, `"'`)) {
				if _, ok := managers[id]; ok {
					return id
				}
			}
		}
	}
	return ""
}

// managers is how each system installs packages.
var managers = map[string]string{
	"debian": "apt-get install -y", "ubuntu": "apt-get install -y",
	"fedora": "dnf install -y", "rhel": "dnf install -y",
	"alpine": "apk add", "arch": "pacman -S --noconfirm", "suse": "zypper install -y",
	"darwin": "brew install",
}

// packages is what the package of each tool is called, by system; "" holds
// where no other name is given.
var packages = map[string]map[string]string{
	"pip":          {"": "python3-pip", "arch": "python-pip", "alpine": "py3-pip", "darwin": "python3"},
	"cc":           {"": "gcc", "debian": "build-essential", "ubuntu": "build-essential", "alpine": "build-base"},
	"qemu-aarch64": {"": "qemu-user", "alpine": "qemu-aarch64", "suse": "qemu-linux-user"},
}

func bring(name, system string, root bool) string {
	switch {
	case name == "go":
		return "get it from https://go.dev/dl"
	case name == "cargo": // distributions' own are often too old
		return "get it with `curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y`"
	case name == "cc" && system == "darwin":
		return "get it with `xcode-select --install`"
	}
	pkg := cmp.Or(packages[name][system], packages[name][""])
	manager := managers[system]
	if manager == "" {
		return fmt.Sprintf("install %s with this system's package manager", pkg)
	}
	if !root && system != "darwin" {
		manager = "sudo " + manager
	}
	return fmt.Sprintf("get it with `%s %s`", manager, pkg)
}
