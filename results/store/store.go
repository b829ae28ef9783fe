// Package store keeps the recordings of the last runs in a folder of the user's,
// so that a run which nobody thought of recording can still be looked at.
package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/introgen/introgen/results/recording"
)

// DirEnv names the environment variable that moves the state folder. Set to
// nothing it says that there is none: nothing is kept.
const DirEnv = "INTROGEN_STATE_DIR"

// KeepEnv names the environment variable that, set to 0, has runs keep no
// recording in the state folder. A plan sets it for its runs, which it records
// itself.
const KeepEnv = "INTROGEN_KEEP"

// Kept is how many recordings are kept, KeptBytes how large they may be together:
// a sweep leaves 100 MB. The newest stays whatever its size.
const (
	Kept      = 20
	KeptBytes = 512 << 20
)

// Keep says whether runs keep recordings by themselves.
func Keep() (bool, error) {
	switch v := os.Getenv(KeepEnv); v {
	case "", "1":
		return true, nil
	case "0":
		return false, nil
	default:
		return false, fmt.Errorf("%s=%q: 0 or 1 is wanted", KeepEnv, v)
	}
}

// Dir is the folder for what the program remembers from one run to another:
// $INTROGEN_STATE_DIR, else introgen below $XDG_STATE_HOME or ~/.local/state, or
// below ~/Library/Application Support on macOS; "" where INTROGEN_STATE_DIR is
// set to nothing. It need not exist.
func Dir() (string, error) {
	if dir, set := os.LookupEnv(DirEnv); set {
		if dir == "" {
			return "", nil
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", fmt.Errorf("%s=%q: %w", DirEnv, dir, err)
		}
		return abs, nil
	}
	base := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) || runtime.GOOS == "darwin" { // the XDG specification has relative paths ignored
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no state folder: %w; set %s to a folder, or to nothing to keep none", err, DirEnv)
		}
		base = filepath.Join(home, ".local", "state")
		if runtime.GOOS == "darwin" {
			base = filepath.Join(home, "Library", "Application Support")
		}
	}
	return filepath.Join(base, "introgen"), nil
}

// maxSerial is beyond what anybody's runs count up to. A file with a larger
// number is not ours, and must not make the numbers overflow.
const maxSerial = 1 << 31

// folder holds the recordings within the state folder.
func folder(state string) string { return filepath.Join(state, "recordings") }

// Entry is a recording that is kept.
type Entry struct {
	Number int // 1 for the newest
	Path   string
	Bytes  int64
	serial int
}

// List returns what is kept in the state folder, the newest first. Recordings
// are told apart by a number that counts up, not by time: clocks step.
func List(state string) ([]Entry, error) {
	if state == "" {
		return nil, nil
	}
	found, err := os.ReadDir(folder(state))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("recordings of the last runs: %w", err)
	}
	var entries []Entry
	for _, f := range found {
		name, ok := strings.CutSuffix(f.Name(), recording.Ending)
		if !ok || !f.Type().IsRegular() {
			continue
		}
		digits, _, _ := strings.Cut(name, "-")
		if n, err := strconv.Atoi(digits); err == nil && n > 0 && n < maxSerial {
			e := Entry{Path: filepath.Join(folder(state), f.Name()), serial: n}
			if info, err := f.Info(); err == nil {
				e.Bytes = info.Size()
			}
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Or(cmp.Compare(b.serial, a.serial), cmp.Compare(a.Path, b.Path)) })
	for i := range entries {
		entries[i].Number = i + 1
	}
	return entries, nil
}

// Create begins a recording of a run of the command in the state folder. Who has
// completed it tidies up.
func Create(state, command string) (*recording.Writer, string, error) {
	if err := os.MkdirAll(folder(state), 0o700); err != nil {
		return nil, "", err
	}
	entries, err := List(state)
	if err != nil {
		return nil, "", err
	}
	serial := 1
	if len(entries) > 0 {
		serial = entries[0].serial + 1
	}
	// Another run may take the same number at the same time.
	for last := serial + 1000; serial < last; serial++ {
		taken, err := fs.Glob(os.DirFS(folder(state)), fmt.Sprintf("%06d-*", serial))
		if err != nil {
			return nil, "", err
		}
		if len(taken) > 0 {
			continue
		}
		path := filepath.Join(folder(state), fmt.Sprintf("%06d-%s%s", serial, command, recording.Ending))
		w, err := recording.CreateNew(path)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return w, path, err
	}
	return nil, "", fmt.Errorf("no free number in %s", folder(state))
}

// Tidy removes the oldest recordings beyond Kept and KeptBytes, except those that are
// being written, and what killed processes left. It is for the end of a run: to remove a
// file can take longer than all else that happens before a first token.
func Tidy(state string) error {
	removeUnfinished(state)
	entries, err := List(state)
	if err != nil {
		return err
	}
	return removeOldest(entries, KeptBytes)
}

// removeOldest removes what there is too much of; the newest stays.
func removeOldest(entries []Entry, most int64) error {
	var sum int64
	full := false // whatever is older than what goes has to go too
	for i, e := range entries {
		sum += e.Bytes
		if full = full || i > 0 && (i >= Kept || sum > most); !full || recording.Busy(e.Path) {
			continue
		}
		if err := os.Remove(e.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Find returns the file that is meant by a path, or by the number that List
// gives a recording. A file that exists wins.
func Find(arg string) (string, error) {
	if _, err := os.Stat(arg); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return arg, nil
	}
	n, err := strconv.Atoi(arg)
	if err != nil {
		return "", fmt.Errorf("no file %s", arg)
	}
	state, err := Dir()
	if err != nil {
		return "", err
	}
	if state == "" {
		return "", fmt.Errorf("no recording %d: %s is set to nothing, so none is kept", n, DirEnv)
	}
	entries, err := List(state)
	if err != nil {
		return "", err
	}
	if n < 1 || n > len(entries) {
		return "", fmt.Errorf("no recording %d: %d are kept; `introgen list` shows them", n, len(entries))
	}
	return entries[n-1].Path, nil
}
