package peer

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// sources are the peers' own programs: they go to the cache with what is built
// from them, so that nothing is written into the project's tree.
//
//go:embed llama_peer.py candle/Cargo.toml candle/src/*.rs
var sources embed.FS

// Setup builds the peers in a cache folder. Each is built once for its version,
// flags, compiler and processor.
type Setup struct {
	Cache   string // introgen's cache folder; the peers go below it
	Machine Machine
	Log     io.Writer // what is done, for people
}

// folder is where a peer built from these parts lies. Any part that changes
// gives another folder, so that a stale build is never measured.
func (s *Setup) folder(name string, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return filepath.Join(s.Cache, "peers", name+"-"+hex.EncodeToString(sum[:4]))
}

// doneMark stands in the folder of a build that came to its end.
const doneMark = "built"

// once calls construct for a folder that is not yet built. construct gets an empty
// folder and a log file; a failed build leaves the log and no mark, and begins
// afresh the next time.
func (s *Setup) once(dir, what string, construct func(log io.Writer) error) error {
	if _, err := os.Stat(filepath.Join(dir, doneMark)); err == nil {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	path := dir + ".log"
	log, err := os.Create(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Log, "building %s in %s (log: %s)\n", what, dir, path)
	if err := errors.Join(construct(log), log.Close()); err != nil {
		return fmt.Errorf("%s could not be built: %w; its log is %s", what, err, path)
	}
	return os.WriteFile(filepath.Join(dir, doneMark), []byte(what+"\n"), 0o644)
}

// unpack writes the sources below name, a file or a folder, to dir. Those of a
// folder must not be there yet.
func unpack(name, dir string) error {
	if b, err := sources.ReadFile(name); err == nil {
		return os.WriteFile(dir, b, 0o644)
	}
	below, err := fs.Sub(sources, name)
	if err != nil {
		return err
	}
	return os.CopyFS(dir, below)
}

// fingerprint is the content of the sources below name, to be part of a folder's
// name.
func fingerprint(name string) string {
	var all strings.Builder
	// The files are part of this program: reading them cannot fail.
	_ = fs.WalkDir(sources, name, func(path string, entry fs.DirEntry, _ error) error {
		if !entry.IsDir() {
			b, _ := sources.ReadFile(path)
			all.WriteString(path)
			all.Write(b)
		}
		return nil
	})
	return all.String()
}
