package clang

import (
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// small is up to how many bytes an executable is known by its content, and not
// by its size and time alone: scripts, and programs that are all in libraries.
const small = 256 << 10

// resolved is the absolute path of a file, links resolved.
func resolved(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(target)
}

// Stamp tells an executable from another, and from itself when it has changed:
// its path with links resolved, its size and time, its content where that is
// small, and the same of the shared libraries that it names, since all of clang
// is often in them.
func Stamp(path string) (string, error) {
	target, err := resolved(path)
	if err != nil {
		return "", err
	}
	text, err := stampFile(target)
	if err != nil {
		return "", err
	}
	for _, library := range libraries(target, nil) {
		// One that is gone meanwhile, or cannot be read, cannot be loaded either.
		if s, err := stampFile(library); err == nil {
			text += "; " + s
		}
	}
	return text, nil
}

func stampFile(path string) (string, error) {
	s, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("%s %d %d", path, s.Size(), s.ModTime().UnixNano())
	if s.Mode().IsRegular() && s.Size() <= small {
		b, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		text += fmt.Sprintf(" %x", sha256.Sum256(b))
	}
	return text, nil
}

// isScript says that a file is no program by itself: what it runs is known to
// nobody but it.
func isScript(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return true
	}
	_ = f.Close() // only read
	return false
}

// systemFolders is where the dynamic linker looks after the folders that the
// program names itself.
var systemFolders = []string{"/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib",
	"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu"}

// libraries are the files that may be the shared libraries which an executable
// names, in the order of its names; each path that is looked at is told to looked.
// Without LD_LIBRARY_PATH, which is not handed
// on, they lie in the folders that it says, or in the system's.
func libraries(path string, looked func(path string)) []string {
	f, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, err := f.ImportedLibraries()
	if err != nil {
		return nil
	}
	var folders []string
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		lists, err := f.DynString(tag)
		if err != nil {
			continue
		}
		for _, list := range lists {
			for dir := range strings.SplitSeq(list, ":") {
				origin := filepath.Dir(path)
				folders = append(folders, strings.NewReplacer("$ORIGIN", origin, "${ORIGIN}", origin).Replace(dir))
			}
		}
	}
	var out []string
	seen := map[string]bool{}
	for _, name := range names {
		for _, dir := range append(folders[:len(folders):len(folders)], systemFolders...) {
			candidate := filepath.Join(dir, name)
			if looked != nil {
				looked(candidate)
			}
			target, err := filepath.EvalSymlinks(candidate)
			if err != nil || seen[target] {
				continue
			}
			seen[target] = true
			out = append(out, target)
		}
	}
	return out
}
