// Package executable finds a program as a shell does, and says before anything runs
// whether a recorder can be loaded into it, and if not, what to do.
package executable

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Program is one that a recorder can be loaded into.
type Program struct {
	Path string // as it is started
	// Image is the file whose code runs: that of Path, or the interpreter of a script.
	Image string
	// Needed are the shared libraries that Image names, on Linux.
	Needed []string
	// Folders are where it looks for them before all others, on Linux.
	Folders []string
}

// system is for which programs are looked at: that which runs, but for tests.
type system struct{ os, arch string }

// here is this system.
var here = system{runtime.GOOS, runtime.GOARCH}

// Find finds the program that is called so, in the folders of $PATH where the name
// has no slash, and looks at it.
func Find(name string) (*Program, error) { return here.find(name) }

func (s system) find(name string) (*Program, error) {
	path, err := locate(name)
	if err != nil {
		return nil, err
	}
	p := &Program{Path: path, Image: path}
	const deepest = 5 // interpreters of interpreters, as Linux has it
	for range deepest {
		next, err := s.look(p)
		if err != nil {
			return nil, err
		}
		if next == "" {
			return p, nil
		}
		p.Image = next
	}
	return nil, fmt.Errorf("program %q: its interpreter is a script, and that one's too, and so on; give the program itself", path)
}

// locate is the path of a program that can be executed.
func locate(name string) (string, error) {
	if name == "" {
		return "", errors.New("program \"\": a name or a path is wanted")
	}
	path := name
	if !strings.Contains(name, "/") {
		found, err := exec.LookPath(name)
		if err != nil && !errors.Is(err, exec.ErrDot) {
			hint := ""
			if _, err := os.Stat(name); err == nil {
				hint = fmt.Sprintf("; there is one in this folder: ./%s", name)
			}
			return "", fmt.Errorf("program %q: it is not in $PATH%s", name, hint)
		}
		path = found
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("program %q: there is no such file", path)
	case err != nil:
		return "", fmt.Errorf("program %q: %w", path, err)
	case info.IsDir():
		return "", fmt.Errorf("program %q: it is a folder; give the program in it", path)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("program %q: it is no regular file", path)
	case info.Mode()&0o111 == 0:
		return "", fmt.Errorf("program %q: it is not executable; `chmod +x` makes it so, or give its interpreter in front of it", path)
	}
	return path, nil
}

// look looks at the file that p.Image names. A script has an interpreter, which is
// to be looked at next.
func (s system) look(p *Program) (interpreter string, err error) {
	f, err := os.Open(p.Image)
	if err != nil {
		return "", fmt.Errorf("program %q: cannot be looked at: %w", p.Image, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("program %q: %w", p.Image, err)
	}
	if err := s.guarded(p, info); err != nil {
		return "", err
	}
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("program %q: %w", p.Image, err)
	}
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("#!")):
		return s.interpreter(p, head)
	case bytes.HasPrefix(head, []byte("\x7fELF")):
		return "", s.elf(p, f)
	case isMachO(head):
		return "", s.macho(p, f)
	case bytes.HasPrefix(head, []byte("MZ")):
		return "", fmt.Errorf("program %q: it is a program for Windows; one for %s is wanted", p.Image, s)
	}
	return "", fmt.Errorf("program %q: it is neither a program for %s nor a script that begins with #!; give its interpreter in front of it", p.Image, s)
}

// String is the system in words.
func (s system) String() string {
	return map[string]string{"linux": "Linux", "darwin": "macOS"}[s.os] + " on " + s.arch
}

// guarded refuses files into which the system loads nothing, whoever asks.
func (s system) guarded(p *Program, info fs.FileInfo) error {
	if info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 && os.Geteuid() != 0 {
		return fmt.Errorf("program %q: it runs with another user's rights (setuid or setgid), so that the system loads no recorder into it; record a copy without these", p.Image)
	}
	if s.os != "darwin" {
		return nil
	}
	path, err := filepath.EvalSymlinks(p.Image)
	if err != nil {
		return fmt.Errorf("program %q: %w", p.Image, err)
	}
	for _, folder := range []string{"/System/", "/bin/", "/sbin/", "/usr/"} {
		if strings.HasPrefix(path, folder) && !strings.HasPrefix(path, "/usr/local/") {
			return fmt.Errorf("program %q: macOS protects what lies in %s and loads no recorder into it; %s", p.Image, strings.TrimSuffix(folder, "/"), p.instead())
		}
	}
	return nil
}

// instead says what to do where the system protects the file that runs.
func (p *Program) instead() string {
	if p.Image != p.Path {
		return "give an interpreter of your own in front of the script: introgen record -- INTERPRETER " + p.Path
	}
	return "give a program of your own, such as a python3 of Homebrew, conda or a virtual environment made with one"
}

// interpreter is the program that a script names in its first line, and that which
// env(1) would start.
func (s system) interpreter(p *Program, head []byte) (string, error) {
	line, _, _ := bytes.Cut(head[2:], []byte("\n"))
	words := strings.Fields(string(line))
	if len(words) == 0 {
		return "", fmt.Errorf("program %q: it is a script whose first line names no interpreter", p.Image)
	}
	if filepath.Base(words[0]) == "env" && s.os == "linux" {
		for _, word := range words[1:] {
			if strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
				continue
			}
			words[0] = word
			break
		}
	}
	path, err := locate(words[0])
	if err != nil {
		return "", fmt.Errorf("program %q: it is a script, and of its interpreter: %w", p.Image, err)
	}
	return path, nil
}
