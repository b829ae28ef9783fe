package apple

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/introgen/introgen/system/files"
)

// origin is what lies beside an archive, in a file of JSON whose name ends in
// originSuffix: who has written it.
type origin struct {
	Format       string `json:"format"`
	Version      int    `json:"version"`
	System       string `json:"system"` // "14.5.0"
	Build        string `json:"build"`  // "23F79"; a system's updates have others
	Device       string `json:"device"`
	Architecture string `json:"architecture"`
	Digest       string `json:"sha256"` // of the archive
}

const (
	originSuffix  = ".origin.json"
	originFormat  = "introgen metal binary archive"
	originVersion = 1
	maxOrigin     = 64 << 10 // bytes
)

// origin is that of an archive which is written here. It is called within a pool.
func (d *Device) origin() origin {
	system, build := d.a.process().system()
	return origin{Format: originFormat, Version: originVersion, System: system, Build: build, Device: d.info.Name, Architecture: d.info.Architecture}
}

// readOrigin reads the origin of the archive at path. An archive that somebody else
// has written has none: nil. Why says what is wrong with one.
func readOrigin(path string) (o *origin, why string) {
	f, err := files.OpenPrivate(path + originSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ""
	}
	damaged := func(err error) string { return fmt.Sprintf("damaged: %s: %v", path+originSuffix, err) }
	if err != nil {
		return nil, damaged(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxOrigin))
	if err != nil {
		return nil, damaged(err)
	}
	o = &origin{}
	read := json.NewDecoder(bytes.NewReader(text))
	read.DisallowUnknownFields()
	err = read.Decode(o)
	if err == nil && strings.TrimSpace(string(text[read.InputOffset():])) != "" {
		err = errors.New("something follows its end")
	}
	if err != nil {
		return nil, damaged(err)
	}
	if o.Format != originFormat || o.Version != originVersion {
		return nil, damaged(fmt.Errorf("its format is %q, version %d, and %q, version %d, is known", o.Format, o.Version, originFormat, originVersion))
	}
	return o, ""
}

// differs says why an archive of the digest sum, whose origin o is, gives nothing
// here; "" if it may.
func (o *origin) differs(here origin, sum string) string {
	system := func(o origin) string { return fmt.Sprintf("macOS %s (%s)", o.System, o.Build) }
	device := func(o origin) string { return fmt.Sprintf("%s (%s)", o.Device, o.Architecture) }
	switch {
	case o.Digest != sum:
		return "damaged: its digest is not the one that its origin says"
	case device(*o) != device(here):
		return fmt.Sprintf("of another device: %s, and not %s", device(*o), device(here))
	case system(*o) != system(here):
		return fmt.Sprintf("of another system: %s, and not %s", system(*o), system(here))
	}
	return ""
}

// write puts o beside the archive at path.
func (o origin) write(path string) error {
	text, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return err
	}
	return files.Write(path+originSuffix, append(text, '\n'), files.Options{Mode: 0o600, Unsynced: true})
}
