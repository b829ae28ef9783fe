package kernels

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
)

// Limits of what is read of a crate. candle-metal-kernels 0.11.0 has 63 entries,
// 1.0 MB in all, the largest of 330 kB.
const (
	maxBytes   = 32 << 20 // of all entries, unpacked
	maxEntries = 10_000
)

// manifest is a crate's, as cargo has normalised it.
const manifest = "Cargo.toml"

// Crate is what was read of a Rust crate as cargo keeps it: a tar compressed with
// gzip, whose entries all lie in one folder NAME-VERSION.
type Crate struct {
	Name, Version string
	Licence       string            // the manifest's SPDX expression, "" if it has none
	Files         map[string][]byte // the sources of libraries, by their names alone
}

// ReadCrate reads a .crate file and keeps the files that may be sources of
// libraries.
func ReadCrate(r io.Reader) (*Crate, error) {
	c, err := readCrate(r, isSource)
	if err == nil {
		c.Files = sources(c.Files)
	}
	return c, err
}

// readCrate keeps the files that want names, by their paths below the crate's
// folder. An entry that is no file or folder, leaves the crate's folder or stands
// there twice is an error, wanted or not.
func readCrate(r io.Reader, want func(path string) bool) (*Crate, error) {
	zip, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("not a .crate file: %w", err)
	}
	limited := &limitedReader{r: zip, left: maxBytes}
	c := &Crate{Files: map[string][]byte{}}
	folder, seen := "", map[string]bool{}
	kept := 0 // bytes: a sparse entry unpacks to more than it takes in the archive
	var toml []byte
	for archive := tar.NewReader(limited); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("after %d entries: %w", len(seen), err)
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		top, below, err := split(h)
		if err != nil {
			return nil, err
		}
		if folder == "" {
			folder = top
		}
		switch {
		case top != folder:
			return nil, fmt.Errorf("entry %q lies outside of the crate's folder %s", h.Name, folder)
		case seen[below]:
			return nil, fmt.Errorf("entry %q stands there twice", h.Name)
		case len(seen) == maxEntries:
			return nil, fmt.Errorf("more than %d entries", maxEntries)
		}
		seen[below] = true
		if h.Typeflag == tar.TypeDir || below != manifest && !want(below) {
			continue
		}
		if h.Size > maxFile {
			return nil, fmt.Errorf("entry %q has %d bytes; at most %d are read", h.Name, h.Size, maxFile)
		}
		if kept += int(h.Size); kept > maxBytes {
			return nil, fmt.Errorf("more than %d bytes unpacked", maxBytes)
		}
		b, err := io.ReadAll(archive)
		if err != nil {
			return nil, fmt.Errorf("entry %q: %w", h.Name, err)
		}
		if below == manifest {
			toml = b
		}
		if want(below) {
			c.Files[below] = b
		}
	}
	// What stands behind the archive is read too: gzip compares its checksum at
	// its end.
	if _, err := io.Copy(io.Discard, limited); err != nil {
		return nil, fmt.Errorf("behind the archive: %w", err)
	}
	if toml == nil {
		return nil, fmt.Errorf("no %s among its %d entries", manifest, len(seen))
	}
	p := packageOf(string(toml))
	c.Name, c.Version, c.Licence = p["name"], p["version"], p["license"]
	if c.Name == "" || c.Name+"-"+c.Version != folder {
		return nil, fmt.Errorf("its %s says package %q %q, its folder is %s", manifest, c.Name, c.Version, folder)
	}
	return c, nil
}

// split divides an entry's name into the crate's folder and the path below it.
func split(h *tar.Header) (top, below string, err error) {
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeDir:
	default:
		return "", "", fmt.Errorf("entry %q is neither a file nor a folder (tar type %q)", h.Name, h.Typeflag)
	}
	name := h.Name
	if h.Typeflag == tar.TypeDir {
		name = strings.TrimSuffix(name, "/")
	}
	top, below, _ = strings.Cut(name, "/")
	bad := name == "" || path.Clean(name) != name || strings.ContainsAny(name, "\\\x00") || path.IsAbs(name) || top == ".." || top == "."
	if bad || below == "" && h.Typeflag == tar.TypeReg {
		return "", "", fmt.Errorf("entry %q: a path below the crate's folder is wanted", h.Name)
	}
	return top, below, nil
}

// limitedReader fails where io.LimitReader would feign the end.
type limitedReader struct {
	r    io.Reader
	left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("more than %d bytes unpacked", maxBytes)
	}
	if int64(len(p)) > l.left {
		p = p[:l.left]
	}
	n, err := l.r.Read(p)
	l.left -= int64(n)
	return n, err
}

// packageOf reads the strings of a manifest's table [package]. cargo writes the
// manifests of crates anew, in one style: a key, " = " and a string on a line of
// their own. What is written otherwise is left out.
func packageOf(toml string) map[string]string {
	out := map[string]string{}
	within := false
	for line := range strings.Lines(toml) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			within = line == "[package]"
			continue
		}
		key, value, ok := strings.Cut(line, " = ")
		if !ok || !within {
			continue
		}
		if s, err := strconv.Unquote(value); err == nil && value[0] == '"' {
			out[key] = s
		}
	}
	return out
}
