package recorder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// Environment is the variable that has a recorder record: "VERSION:FOLDER".
const Environment = "INTROGEN_RECORD"

// NonceEnvironment is the variable whose value ends every MSL source.
const NonceEnvironment = "INTROGEN_NONCE"

// Setting is the value of Environment for a folder, an absolute path.
func Setting(folder string) string { return fmt.Sprintf("%d:%s", Version, folder) }

// Folder is where processes put their rings.
type Folder struct {
	dir  string
	seen map[string]bool
	// Refused is what is wrong with files that look like rings and are none.
	Refused []error
}

// OpenFolder opens the folder that Environment names.
func OpenFolder(dir string) (*Folder, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("rings of a recorded program: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("rings of a recorded program: %s is no folder", dir)
	}
	return &Folder{dir: dir, seen: map[string]bool{}}, nil
}

// ringName is PID.ring, or PID-2.ring of a process that has made one before.
var ringName = regexp.MustCompile(`^([0-9]{1,10})(?:-([0-9]{1,4}))?\.ring$`)

// Rings opens the rings that are there since the last call, by process and, of
// one process, in the order in which they were made. Files that are no rings
// of this version are added to Refused.
func (f *Folder) Rings() []*Ring {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return nil // the folder is gone, and with it what was in it
	}
	type found struct {
		name     string
		pid, nth int
	}
	var all []found
	for _, e := range entries {
		m := ringName.FindStringSubmatch(e.Name())
		if m == nil || f.seen[e.Name()] {
			continue
		}
		f.seen[e.Name()] = true
		pid, _ := strconv.Atoi(m[1]) // digits, as many as fit
		nth, _ := strconv.Atoi(m[2]) // 0 for the first
		all = append(all, found{e.Name(), pid, nth})
	}
	slices.SortFunc(all, func(a, b found) int {
		if a.pid != b.pid {
			return a.pid - b.pid
		}
		return a.nth - b.nth
	})
	var rings []*Ring
	for _, a := range all {
		r, err := openRing(filepath.Join(f.dir, a.name))
		if err != nil {
			f.Refused = append(f.Refused, err)
			continue
		}
		rings = append(rings, r)
	}
	return rings
}

// Errors of a ring, for errors.Is.
var (
	ErrVersion = errors.New("it was written by a recorder of another version")
	ErrDamaged = errors.New("the ring is damaged")
)
