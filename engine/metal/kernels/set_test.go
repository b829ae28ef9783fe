package kernels

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOwn(t *testing.T) {
	for _, name := range []string{"", Own} {
		s, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range append([]string{FloatLibrary}, Libraries...) {
			text, file, err := s.Library(l)
			if err != nil || !strings.Contains(text, "[[") || file != strings.ToLower(l)+".metal" {
				t.Errorf("library %s: %d bytes from %q, %v", l, len(text), file, err)
			}
		}
		if _, _, err := s.Library("Conv"); err == nil || !strings.Contains(err.Error(), "Conv") {
			t.Errorf("a library of candle's that is not among the project's: %v", err)
		}
		if _, _, err := s.Library("Nothing"); err == nil || !strings.Contains(err.Error(), "Nothing") {
			t.Errorf("an unknown library: %v", err)
		}
	}
	if !slices.IsSorted(Libraries) || len(Libraries) != 10 {
		t.Errorf("libraries %v, want ten in order", Libraries)
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "absent")); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("an absent folder: %v", err)
	}
	for _, l := range Libraries {
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), candleFiles[l]) {
			t.Errorf("without %s: %v", candleFiles[l], err)
		}
		if err := os.WriteFile(filepath.Join(dir, candleFiles[l]), []byte("// "+l), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, file, err := s.Library("Gemm")
	if err != nil || text != "// Gemm" || file != "mlx_gemm.metal" {
		t.Errorf("Gemm is %q from %s, %v", text, file, err)
	}
	if _, _, err := s.Library(FloatLibrary); err == nil || !strings.Contains(err.Error(), "has no gemv.metal, which matrices of F32, F16 and BF16") {
		t.Errorf("a set without %s: %v", FloatLibrary, err)
	}
	if s.String() != dir {
		t.Errorf("the set is called %q", s)
	}
	file = filepath.Join(dir, file)
	if _, err := Open(file); err == nil || !strings.Contains(err.Error(), "neither a folder") {
		t.Errorf("a file for a folder: %v", err)
	}
	// What happens to the files afterwards changes nothing.
	before := s.Digest()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if text, _, err := s.Library("Gemm"); err != nil || text != "// Gemm" || s.Digest() != before {
		t.Errorf("a file that has gone: %q, %v", text, err)
	}
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder for a file: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	// Larger than any kernel file; the file is empty on disk.
	affine := filepath.Join(dir, "affine.metal")
	if err := os.Truncate(affine, maxFile+1); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("a huge file: %v", err)
	}
}

// small is a set in which each file is a comment.
func small() map[string][]byte {
	texts := map[string][]byte{}
	for _, l := range Libraries {
		texts[candleFiles[l]] = []byte("// " + l)
	}
	return texts
}

// TestText: a file in UTF-16, as PowerShell writes one, is no source; without a
// word its functions would be absent.
func TestText(t *testing.T) {
	for _, text := range []string{"\xff\xfe/\x00/\x00", "\xfe\xff\x00/\x00/", "// a\x00"} {
		texts := small()
		texts["affine.metal"] = []byte(text)
		_, err := New("theirs", "", "", texts)
		if err == nil || !strings.Contains(err.Error(), "kernels: library Affine: affine.metal has a zero byte at offset") || !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// packed is a .crate file of small in folder.
func packed(t *testing.T, folder string) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	w := tar.NewWriter(zip)
	put := func(name, text string) {
		if err := w.WriteHeader(&tar.Header{Name: "candle-metal-kernels-9.8.7/" + name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	put("Cargo.toml", "[package]\nname = \"candle-metal-kernels\"\nversion = \"9.8.7\"\nlicense = \"MIT\"\n")
	for name, text := range small() {
		put(folder+name, string(text))
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestCrate: the same files are the same set, in a folder and in a crate of
// either of candle's layouts.
func TestCrate(t *testing.T) {
	want, err := New("folder", "", "", small())
	if err != nil {
		t.Fatal(err)
	}
	for i, folder := range []string{"src/", "src/metal_src/"} {
		file := filepath.Join(t.TempDir(), "any.crate")
		if err := os.WriteFile(file, packed(t, folder), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(file)
		if err != nil {
			t.Fatal(err)
		}
		if s.Digest() != want.Digest() || s.Licence() != "MIT" || s.Path() != file || len(s.Files()) != 10 {
			t.Errorf("layout %d: digest %s, want %s; licence %q, %d files of %s", i, s.Digest(), want.Digest(), s.Licence(), len(s.Files()), s.Path())
		}
		if err := os.WriteFile(file, packed(t, folder)[:300], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(file); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("a crate cut off: %v", err)
		}
	}
	if _, err := Open("set_test.go"); err == nil || !strings.Contains(err.Error(), "neither a folder nor a .crate file") {
		t.Errorf("a file that is no crate: %v", err)
	}
}

// TestDigest: it is the SHA-256 that its comment describes, made here by hand
// for a set of ten comments, and any change changes it.
func TestDigest(t *testing.T) {
	s, err := New("small", "", "", small())
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, l := range Libraries {
		text += fmt.Sprintf("%s %d\n// %s", l, len(l)+3, l)
	}
	if want := fmt.Sprintf("%x", sha256.Sum256([]byte(text))); s.Digest() != want {
		t.Errorf("digest %s, want %s", s.Digest(), want)
	}
	changed := small()
	changed["conv.metal"] = nil
	if other, err := New("small", "", "", changed); err != nil || other.Digest() == s.Digest() {
		t.Errorf("a library more leaves the digest as it was (%v)", err)
	}
}

func TestLicenceLine(t *testing.T) {
	for text, want := range map[string]string{
		"// Copyright © 2024 Apple Inc.\n\n#include <metal_stdlib>\n": "Copyright © 2024 Apple Inc.",
		"/* SPDX-License-Identifier: MIT */\n":                        "SPDX-License-Identifier: MIT",
		"#include <metal_stdlib>\n":                                   "",
		strings.Repeat("\n", 40) + "// Copyright nobody\n":            "",
	} {
		if got := (File{Text: text}).LicenceLine(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
