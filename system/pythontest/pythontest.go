// Package pythontest gives tests the Python modules that they compare with, each in
// the one version that requirements.txt has, or a skip that says
// what brings them.
package pythontest

import (
	_ "embed" // for requirements.txt
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/introgen/introgen/system/files"
)

// Command is a call of python3 that runs the script, in which the modules can be
// imported. The test is skipped where one of them is not there in its version.
func Command(t testing.TB, script string, modules ...string) *exec.Cmd {
	t.Helper()
	wanted := versions()
	env := os.Environ()
	if dir := folder(t); dir != "" {
		env = append(env, "PYTHONPATH="+strings.Join(append([]string{dir}, filepath.SplitList(os.Getenv("PYTHONPATH"))...), string(filepath.ListSeparator)))
	}
	for _, m := range modules {
		version, ok := wanted[m]
		if !ok {
			t.Fatalf("system/pythontest/requirements.txt has no version of %q", m)
		}
		ask := exec.CommandContext(t.Context(), "python3", "-c", "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))", m)
		ask.Env = env
		if out, err := ask.Output(); err != nil || strings.TrimSpace(string(out)) != version {
			t.Skipf("SKIP: needs python3 with %s %s: `make setup` brings it", m, version)
		}
	}
	cmd := exec.CommandContext(t.Context(), "python3", "-c", script)
	cmd.Env = env
	return cmd
}

// folder is where scripts/oracles puts the modules for this python3; ""
// where there is no python3.
func folder(t testing.TB) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "python3", "-c", `import sys; print("py%d.%d" % sys.version_info[:2])`).Output()
	if err != nil {
		return ""
	}
	cache, err := files.Cache()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "lib", "oracles-"+strings.TrimSpace(string(out)))
}

//go:embed requirements.txt
var requirements string

var pin = regexp.MustCompile(`(?m)^([a-z0-9-]+)==([0-9.]+)$`)

// versions are those of the modules.
func versions() map[string]string {
	out := map[string]string{}
	for _, m := range pin.FindAllStringSubmatch(requirements, -1) {
		out[m[1]] = m[2]
	}
	return out
}
