package store

import (
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/introgen/introgen/system/files"
)

// packFrom is the size from which on a recording is packed: a sweep has 100 MB of
// lines that are alike, and a tenth of that packed.
const packFrom = 1 << 20

// packing is behind the name of a file that is being made.
const packing = ".packing"

// Pack compresses a recording of the state folder that is complete, under its
// name, where it is large. Package recording reads both. What fails, and what
// is killed, leaves it as it was.
func Pack(path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil || info.Size() < packFrom {
		return err
	}
	out, err := files.Create(path, files.Options{Mode: info.Mode().Perm(), Unsynced: true, Unfinished: filepath.Base(path) + packing + "*"})
	if err != nil {
		return err
	}
	defer out.Discard()
	zip, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if _, err := io.Copy(zip, in); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	return out.Commit()
}

// removeUnfinished removes what a process that was killed left of its packing. One
// that still packs then leaves its recording as it is.
func removeUnfinished(state string) {
	left, err := fs.Glob(os.DirFS(folder(state)), "*"+packing+"*")
	if err != nil {
		return
	}
	for _, name := range left {
		_ = os.Remove(filepath.Join(folder(state), name)) // the next one tries again
	}
}
