//go:build unix

package clang

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRunSealsEnvironment: a compiler sees no variable of ours and not our
// folder; a program that says where something lies sees both.
func TestRunSealsEnvironment(t *testing.T) {
	dir := t.TempDir()
	path := script(t, dir, "shows", "pwd; env")
	t.Setenv("CPATH", "/seen")
	t.Chdir(dir)
	out, err := Run(context.Background(), Command{Argv: []string{path}})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out.Stdout)), "\n")
	if lines[0] != "/" {
		t.Errorf("it runs in %s", lines[0])
	}
	for _, l := range lines[1:] {
		name, _, _ := strings.Cut(l, "=")
		if !slices.Contains(environment, l) && !slices.Contains([]string{"PWD", "OLDPWD", "SHLVL", "_"}, name) { // the shell's own
			t.Errorf("it sees %s", l)
		}
	}
	if out, err = Run(context.Background(), Command{Argv: []string{path}, Whole: true}); err != nil ||
		!strings.Contains(string(out.Stdout), "CPATH=/seen\n") || !strings.Contains(string(out.Stdout), filepath.Base(dir)) {
		t.Errorf("with the whole environment: %s, %v", out.Stdout, err)
	}
}

// TestStamp: a compiler that has been replaced is another one, also where size
// and time are the old one's, and where it is a script that stays what it is and
// runs what has been replaced, and where only the linker is another.
func TestStamp(t *testing.T) {
	dir, behind := t.TempDir(), t.TempDir()
	t.Setenv(EnvPath, script(t, dir, "good", "echo 'clang version 19.1.7'; echo InstalledDir: "+behind))
	script(t, dir, "ld.lld", "exit 1")
	script(t, behind, "clang", "echo one")
	now := time.Now()
	found := func() string {
		t.Helper()
		for _, path := range []string{filepath.Join(dir, "good"), filepath.Join(dir, "ld.lld"), filepath.Join(behind, "clang")} {
			if err := os.Chtimes(path, now, now); err != nil {
				t.Fatal(err)
			}
		}
		tools, err := Find(context.Background())
		if err == nil {
			err = tools.Identify(context.Background())
		}
		if err != nil || !tools.Wrapped {
			t.Fatalf("%+v, %v", tools, err)
		}
		return tools.Stamp
	}
	last := found()
	if again := found(); again != last {
		t.Errorf("the same compiler has two stamps: %q and %q", last, again)
	}
	for name, change := range map[string]func(){
		"its content":         func() { script(t, dir, "good", "echo 'clang version 19.1.7'; echo InstalledDir: "+behind+" # new") },
		"what it answers":     func() { script(t, dir, "good", "echo 'clang version 19.1.8'; echo InstalledDir: "+behind) },
		"the linker":          func() { script(t, dir, "ld.lld", "exit 2") },
		"what stands behind":  func() { script(t, behind, "clang", "echo two") },
		"another one besides": func() { script(t, behind, "clang-19", "echo two") },
	} {
		change()
		next := found()
		if next == last {
			t.Errorf("%s has changed, and the stamp has not", name)
		}
		script(t, dir, "good", "echo 'clang version 19.1.7'; echo InstalledDir: "+behind)
		last = found()
	}
}

// TestLibraries: the shared libraries of a program are found where the dynamic
// linker finds them.
func TestLibraries(t *testing.T) {
	self, err := filepath.EvalSymlinks("/proc/self/exe")
	if err != nil {
		t.Skipf("SKIP: needs Linux: %v", err)
	}
	for _, path := range []string{"/bin/sh", self} {
		if target, err := filepath.EvalSymlinks(path); err == nil && !isScript(target) {
			for _, l := range libraries(target, nil) {
				if _, err := os.Stat(l); err != nil || !strings.Contains(filepath.Base(l), ".so") {
					t.Errorf("%s: %s: %v", path, l, err)
				}
			}
		}
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	// What is mapped into this process, were it started as one that names libc.
	for _, l := range libraries(self, nil) {
		if strings.HasPrefix(filepath.Base(l), "libc.") && !strings.Contains(string(maps), l) {
			t.Errorf("%s is not what is mapped", l)
		}
	}
	if isScript(self) || !isScript(script(t, t.TempDir(), "s", "exit")) {
		t.Error("programs and scripts are mistaken for one another")
	}
}
