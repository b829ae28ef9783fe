package candle

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/introgen/introgen/system/files"
)

const (
	manifestName   = "manifest.json"
	manifestFormat = 1
	maxManifest    = 1 << 20 // bytes
	maxSource      = 16 << 20
)

// manifest says what a folder of kernels holds and where it comes from.
type manifest struct {
	Format  int    // manifestFormat
	Origin  string // for people
	Crate   string
	Version string
	// CrateSHA256 is the .crate file's, which equalled the checksum that the
	// registry's index states.
	CrateSHA256 string
	Licence     string            // SPDX, from the crate's manifest
	Files       map[string]source // by name
}

type source struct {
	Bytes  int
	SHA256 string
}

func sourceOf(text []byte) source {
	sum := sha256.Sum256(text)
	return source{len(text), hex.EncodeToString(sum[:])}
}

func readManifest(dir string) (*manifest, error) {
	path := filepath.Join(dir, manifestName)
	b, err := files.ReadAtMost(path, maxManifest)
	if err != nil {
		return nil, err
	}
	m := &manifest{}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if m.Format != manifestFormat {
		return nil, fmt.Errorf("%s has format %d; this version reads %d", path, m.Format, manifestFormat)
	}
	return m, nil
}

// read reads the files and compares them with what m says.
func (m *manifest) read(dir string) (map[string][]byte, error) {
	texts := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		want := m.Files[name]
		if filepath.Base(name) != name || !files.IsSHA256(want.SHA256) || want.Bytes < 0 || want.Bytes > maxSource {
			return nil, fmt.Errorf("%s has no sound entry for %q", manifestName, name)
		}
		b, err := files.ReadAtMost(filepath.Join(dir, name), maxSource)
		if err != nil {
			return nil, err
		}
		if got := sourceOf(b); got != want {
			return nil, fmt.Errorf("%s has %d bytes of SHA-256 %s; fetched were %d of %s", name, got.Bytes, got.SHA256, want.Bytes, want.SHA256)
		}
		texts[name] = b
	}
	return texts, nil
}

// write puts the files and the manifest into dir.
func (m *manifest) write(dir string, texts map[string][]byte) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	all := maps.Clone(texts)
	all[manifestName] = append(text, '\n')
	for name, b := range all {
		if err := files.Write(filepath.Join(dir, name), b, files.Options{}); err != nil {
			return err
		}
	}
	return nil
}
