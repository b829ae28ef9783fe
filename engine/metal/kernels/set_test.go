package kernels

import (
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
		for _, l := range Libraries {
			text, file, err := s.Library(l)
			if err != nil || !strings.Contains(text, "[[") || file != strings.ToLower(l)+".metal" {
				t.Errorf("library %s: %d bytes from %q, %v", l, len(text), file, err)
			}
		}
		if _, _, err := s.Library("Gemv"); err == nil || !strings.Contains(err.Error(), "Gemv") {
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
	if err != nil || text != "// Gemm" || file != filepath.Join(dir, "mlx_gemm.metal") {
		t.Errorf("Gemm is %q from %s, %v", text, file, err)
	}
	if s.String() != dir {
		t.Errorf("the set is called %q", s)
	}
	if _, err := Open(file); err == nil || !strings.Contains(err.Error(), "not a folder") {
		t.Errorf("a file for a folder: %v", err)
	}
	// Removed, or no file at all, after it was opened.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Library("Gemm"); err == nil || !strings.Contains(err.Error(), "Gemm") {
		t.Errorf("a file that has gone: %v", err)
	}
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Library("Gemm"); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder for a file: %v", err)
	}
	// Larger than any kernel file; the file is empty on disk.
	affine := filepath.Join(dir, "affine.metal")
	if err := os.Truncate(affine, maxFile+1); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Library("Affine"); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("a huge file: %v", err)
	}
}
