// Package candle brings the Metal kernels of candle, on which the experiment was
// made, into a folder of the project's cache, and opens them from there. cargo
// gets the crate, so that its own configuration (registry, mirror, proxy,
// certificates) holds; nothing of the crate is built or run.
package candle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/system/files"
)

// Name is the kernels' where a folder could be named; Name@VERSION names those
// of one version.
const Name = "candle"

// Experiment is the version on which the experiment was made, and whose
// dispatches engine/metal follows.
const Experiment = "0.11.0"

// DirEnv names the environment variable that moves the folder of the fetched
// kernels.
const DirEnv = "INTROGEN_KERNELS_DIR"

// pkg is the crate.
const pkg = "candle-metal-kernels"

// ErrAbsent is what errors.Is finds in Open's error of a version that was not
// fetched.
var ErrAbsent = errors.New("kernels absent")

// Dir returns the folder of the fetched kernels: $INTROGEN_KERNELS_DIR where
// that is set, else kernels below files.Cache. It need not exist.
func Dir() (string, error) { return files.Folder(DirEnv, "kernels") }

// version is a version as cargo writes it (Semantic Versioning 2.0.0, without
// build metadata). It becomes part of a path and of a manifest, so nothing else
// may.
var version = regexp.MustCompile(`^[0-9]{1,5}\.[0-9]{1,5}\.[0-9]{1,5}(-[0-9A-Za-z.-]{1,40})?$`)

// ParseRef reads candle or candle@VERSION. ok is false where ref is neither,
// and may then be a path.
func ParseRef(ref string) (v string, ok bool, err error) {
	name, v, at := strings.Cut(ref, "@")
	if name != Name {
		return "", false, nil
	}
	if !at {
		return Experiment, true, nil
	}
	if !version.MatchString(v) {
		return "", true, fmt.Errorf("%q: a version such as %s@%s is wanted", ref, Name, Experiment)
	}
	return v, true, nil
}

// ref is what ParseRef reads as version v.
func ref(v string) string { return Name + "@" + v }

func folder(dir, v string) string { return filepath.Join(dir, Name+"-"+v) }

// Open opens the kernels of version v in dir. Every file is held against the
// digest that was written when it was fetched.
func Open(dir, v string) (*kernels.Set, error) {
	if !version.MatchString(v) {
		return nil, fmt.Errorf("candle kernels: %q is no version such as %s", v, Experiment)
	}
	path := folder(dir, v)
	m, err := readManifest(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s are not in %s; get them with `introgen kernels fetch %s`, or give a folder or a .crate file", ErrAbsent, ref(v), dir, ref(v))
	}
	if err == nil && (m.Crate != pkg || m.Version != v) {
		err = fmt.Errorf("%s says %s %s", manifestName, m.Crate, m.Version)
	}
	var texts map[string][]byte
	if err == nil {
		texts, err = m.read(path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s in %s: %w; `introgen kernels fetch %s` replaces them", ref(v), path, err, ref(v))
	}
	return kernels.New(ref(v), path, m.Licence, texts)
}

// Entry is one fetched version.
type Entry struct {
	Version string
	Path    string
	Set     *kernels.Set // nil where Err says why it cannot be used
	Err     error
}

// List opens all versions in dir, which need not exist, the oldest first.
func List(dir string) ([]Entry, error) {
	found, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list kernels: %w", err)
	}
	var out []Entry
	for _, f := range found {
		v, ok := strings.CutPrefix(f.Name(), Name+"-")
		if !ok || !version.MatchString(v) || !f.IsDir() {
			continue
		}
		e := Entry{Version: v, Path: folder(dir, v)}
		e.Set, e.Err = Open(dir, v)
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Entry) int { return compare(a.Version, b.Version) })
	return out, nil
}

// compare orders versions by their three numbers, and then by the rest.
func compare(a, b string) int {
	numbers := func(v string) (n [3]int) {
		_, _ = fmt.Sscanf(v, "%d.%d.%d", &n[0], &n[1], &n[2])
		return n
	}
	x, y := numbers(a), numbers(b)
	if c := slices.Compare(x[:], y[:]); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}
