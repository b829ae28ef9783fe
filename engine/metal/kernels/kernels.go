// Package kernels holds the project's Metal kernels, and finds other people's:
// source text by the name of a library.
//
// The project's files are named as candle's libraries, and their functions and
// argument tables are candle's, so that either set serves the same dispatches.
// They are written from the description of those tables.
package kernels

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed *.metal
var own embed.FS

// Own names the project's kernels where a folder could be named.
const Own = "own"

// Libraries are the libraries that a forward pass needs, in the order of their
// names.
var Libraries = []string{"Affine", "Binary", "Cast", "Gemm", "Indexing", "Quantized", "Reduce", "Sdpa", "Ternary", "Unary"}

// candleFiles maps candle's libraries to its files
// (candle-metal-kernels/src/source.rs).
var candleFiles = map[string]string{
	"Affine": "affine.metal", "Binary": "binary.metal", "Cast": "cast.metal", "Conv": "conv.metal",
	"Fill": "fill.metal", "Gemm": "mlx_gemm.metal", "Gemv": "gemv.metal", "Indexing": "indexing.metal",
	"MlxSort": "mlx_sort.metal", "Quantized": "quantized.metal", "Random": "random.metal", "Reduce": "reduce.metal",
	"Sdpa": "scaled_dot_product_attention.metal", "Sort": "sort.metal", "Ternary": "ternary.metal", "Unary": "unary.metal",
}

// maxFile bounds a kernel file, in bytes. candle's largest is 330 kB.
const maxFile = 16 << 20

// Set is a set of libraries.
type Set struct {
	dir string // "" for the project's own
}

// Open returns the project's kernels for "" and Own, else those in the folder
// dir: candle's files under their names. That all of Libraries are there is
// checked here.
func Open(dir string) (*Set, error) {
	if dir == "" || dir == Own {
		return &Set{}, nil
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, fmt.Errorf("kernels: %w; give %q or a folder with candle's .metal files", err, Own)
	case !info.IsDir():
		return nil, fmt.Errorf("kernels: %s is not a folder; give %q or a folder with candle's .metal files", dir, Own)
	}
	s := &Set{dir: dir}
	var missing []string
	for _, l := range Libraries {
		_, err := os.Stat(filepath.Join(dir, candleFiles[l]))
		if errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, candleFiles[l])
		} else if err != nil {
			return nil, fmt.Errorf("kernels: library %s: %w", l, err)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("kernels: %s has no %s; it must hold candle's files, such as candle-metal-kernels/src/metal_src", dir, strings.Join(missing, ", "))
	}
	return s, nil
}

// String names the set: Own or the folder.
func (s *Set) String() string {
	if s.dir == "" {
		return Own
	}
	return s.dir
}

// Library is the source text of a library, and the file it stands in.
func (s *Set) Library(name string) (text, file string, err error) {
	base, known := candleFiles[name]
	if !known {
		return "", "", fmt.Errorf("kernels: no library is called %q", name)
	}
	if s.dir == "" {
		file = strings.ToLower(name) + ".metal"
		b, err := own.ReadFile(file)
		if err != nil {
			return "", "", fmt.Errorf("kernels: library %s is not among the project's own", name)
		}
		return string(b), file, nil
	}
	file = filepath.Join(s.dir, base)
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return "", "", fmt.Errorf("kernels: library %s: %w", name, err)
	case !info.Mode().IsRegular():
		return "", "", fmt.Errorf("kernels: library %s: %s is not a regular file", name, file)
	case info.Size() > maxFile:
		return "", "", fmt.Errorf("kernels: library %s: %s has %d bytes; at most %d are read", name, file, info.Size(), maxFile)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", "", fmt.Errorf("kernels: library %s: %w", name, err)
	}
	return string(b), file, nil
}
