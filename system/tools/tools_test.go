package tools

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// put makes an executable shell script of that name in dir.
func put(t *testing.T, dir, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)

	_, err := Find(t.Context(), "pip")
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "pip is missing (not found)") {
		t.Errorf("without any: error %v; want ErrMissing", err)
	}

	put(t, dir, "python3", `echo "No module named pip" >&2; exit 1`)
	_, err = Find(t.Context(), "pip")
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "python3 -m pip does not work: No module named pip") {
		t.Errorf("with a python that has no pip: error %v", err)
	}

	put(t, dir, "pip3", `echo "pip 23.0 from somewhere"; echo more`)
	tool, err := Find(t.Context(), "pip")
	if err != nil || tool.Version != "pip 23.0 from somewhere" || len(tool.Argv) != 1 || tool.Argv[0] != filepath.Join(dir, "pip3") {
		t.Errorf("with pip3 only: %+v, %v", tool, err)
	}

	put(t, dir, "python3", `[ "$1 $2 $3" = "-m pip --version" ] && echo "pip 24.1"`)
	tool, err = Find(t.Context(), "pip")
	if err != nil || tool.Version != "pip 24.1" || strings.Join(tool.Argv[1:], " ") != "-m pip" {
		t.Errorf("with python3's pip: %+v, %v", tool, err)
	}
}

// TestRustupsCargoWithoutItsHome: rustup's cargo refuses where HOME holds no
// toolchains; those beside its own folder then serve, and nothing else of the
// environment changes.
func TestRustupsCargoWithoutItsHome(t *testing.T) {
	env, err := exec.LookPath("env")
	if err != nil {
		t.Skipf("SKIP: needs env: %v", err)
	}
	home := t.TempDir()
	bin := filepath.Join(home, ".cargo", "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(env, filepath.Join(bin, "env")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	t.Setenv("RUSTUP_HOME", "")
	put(t, bin, "cargo", `[ "$RUSTUP_HOME" = "`+filepath.Join(home, ".rustup")+`" ] || { echo "no default is configured" >&2; exit 1; }; echo "cargo 1.2.3"`)
	if _, err := Find(t.Context(), "cargo"); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "no default is configured") {
		t.Errorf("without toolchains: %v", err)
	}
	if err := os.Mkdir(filepath.Join(home, ".rustup"), 0o755); err != nil {
		t.Fatal(err)
	}
	tool, err := Find(t.Context(), "cargo")
	if err != nil || tool.Version != "cargo 1.2.3" {
		t.Fatalf("with toolchains beside it: %+v, %v", tool, err)
	}
	if out, err := exec.Command(tool.Argv[0], append(tool.Argv[1:], "--version")...).Output(); err != nil || string(out) != "cargo 1.2.3\n" {
		t.Errorf("%q prints %q, %v", tool.Argv, out, err)
	}
	t.Setenv("RUSTUP_HOME", filepath.Join(home, "elsewhere"))
	if _, err := Find(t.Context(), "cargo"); !errors.Is(err, ErrMissing) {
		t.Errorf("RUSTUP_HOME is passed over: %v", err)
	}
}

// TestCargoOffThePath: cargo is also found where rustup puts it, and its
// toolchains where a link to it leads.
func TestCargoOffThePath(t *testing.T) {
	env, err := exec.LookPath("env")
	if err != nil {
		t.Skipf("SKIP: needs env: %v", err)
	}
	home, other, empty, path := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.Symlink(env, filepath.Join(path, "env")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path)
	t.Setenv("RUSTUP_HOME", "")
	for dir, version := range map[string]string{filepath.Join(home, ".cargo", "bin"): "1.0.0", filepath.Join(other, "cargo", "bin"): "2.0.0"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, dir, "cargo", `echo "cargo `+version+`"`)
	}
	for _, c := range []struct{ home, cargoHome, want string }{
		{home, "", "cargo 1.0.0"}, {home, filepath.Join(other, "cargo"), "cargo 2.0.0"}, {empty, filepath.Join(other, "cargo"), "cargo 2.0.0"},
		{home, empty, "cargo 1.0.0"}, {empty, "", ""}, {empty, "cargo", ""}, {"", "", ""},
	} {
		t.Setenv("HOME", c.home)
		t.Setenv("CARGO_HOME", c.cargoHome)
		tool, err := Find(t.Context(), "cargo")
		if tool.Version != c.want || (c.want == "") != errors.Is(err, ErrMissing) {
			t.Errorf("HOME=%s, CARGO_HOME=%s: %+v, %v, want %q", c.home, c.cargoHome, tool, err, c.want)
		}
	}
	// A link on PATH to a cargo whose toolchains are beside it.
	dir := filepath.Join(other, "cargo", "bin")
	put(t, dir, "cargo", `[ -d "$RUSTUP_HOME" ] || { echo "no default is configured" >&2; exit 1; }; echo "cargo 3.0.0"`)
	if err := os.Mkdir(filepath.Join(other, "rustup"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "cargo"), filepath.Join(path, "cargo")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path+string(os.PathListSeparator)+"/bin")
	if tool, err := Find(t.Context(), "cargo"); err != nil || tool.Version != "cargo 3.0.0" {
		t.Errorf("through a link: %+v, %v", tool, err)
	}
}

func TestFamily(t *testing.T) {
	for _, c := range []struct{ goos, release, want string }{
		{"darwin", "", "darwin"},
		{"linux", "NAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\nID=debian\n", "debian"},
		{"linux", "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", "ubuntu"},
		{"linux", "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "rhel"},
		{"linux", "ID_LIKE=\"suse opensuse\"\nID=\"opensuse-leap\"\n", "suse"},
		{"linux", "ID=nixos\n", ""},
		{"linux", "", ""},
	} {
		if got := family(c.goos, c.release); got != c.want {
			t.Errorf("family(%s, %q) = %q; want %q", c.goos, c.release, got, c.want)
		}
	}
}

func TestBring(t *testing.T) {
	for _, c := range []struct {
		name, system string
		root         bool
		want         string
	}{
		{"pip", "debian", true, "get it with `apt-get install -y python3-pip`"},
		{"pip", "ubuntu", false, "get it with `sudo apt-get install -y python3-pip`"},
		{"pip", "darwin", false, "get it with `brew install python3`"},
		{"pip", "", false, "install python3-pip with this system's package manager"},
		{"cc", "darwin", false, "get it with `xcode-select --install`"},
		{"qemu-aarch64", "fedora", true, "get it with `dnf install -y qemu-user`"},
	} {
		if got := bring(c.name, c.system, c.root); got != c.want {
			t.Errorf("bring(%s, %s, %v) = %q; want %q", c.name, c.system, c.root, got, c.want)
		}
	}
	for name := range known {
		for system := range managers {
			if got := bring(name, system, false); !strings.Contains(got, "get it") {
				t.Errorf("bring(%s, %s) = %q: no command", name, system, got)
			}
		}
	}
}
