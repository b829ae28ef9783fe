// Package kernels holds the project's Metal kernels, and reads other people's:
// source text by the name of a library.
//
// The project's files are named as candle's libraries, and their functions and
// argument tables are candle's, so that either set serves the same dispatches.
// They are written from the description of those tables.
package kernels

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

//go:embed *.metal
var own embed.FS

// Own names the project's kernels where a folder could be named.
const Own = "own"

// ownLicence is the project's, as an SPDX expression (LICENSE).
const ownLicence = "Apache-2.0"

// Libraries are the libraries that every forward pass needs, in the order of
// their names.
var Libraries = []string{"Affine", "Binary", "Cast", "Gemm", "Indexing", "Quantized", "Reduce", "Sdpa", "Ternary", "Unary"}

// FloatLibrary is what a pass needs besides where a matrix is F32, F16 or BF16, and of
// every architecture but llama for attention of one token.
// A set need not have it: that of an older candle has none.
const FloatLibrary = "Gemv"

// candleFiles maps candle's libraries to its files
// (candle-metal-kernels/src/source.rs).
var candleFiles = map[string]string{
	"Affine": "affine.metal", "Binary": "binary.metal", "Cast": "cast.metal", "Conv": "conv.metal",
	"Fill": "fill.metal", "Gemm": "mlx_gemm.metal", "Gemv": "gemv.metal", "Indexing": "indexing.metal",
	"MlxSort": "mlx_sort.metal", "Quantized": "quantized.metal", "Random": "random.metal", "Reduce": "reduce.metal",
	"Sdpa": "scaled_dot_product_attention.metal", "Sort": "sort.metal", "Ternary": "ternary.metal", "Unary": "unary.metal",
}

// File is the source of one library.
type File struct {
	Library string // "Gemm"
	Name    string // of the file: "mlx_gemm.metal"
	Text    string
}

// Digest is the SHA-256 of the text, in lower-case hex: by it a program's source is
// known as the library's.
func (f File) Digest() string {
	sum := sha256.Sum256([]byte(f.Text))
	return hex.EncodeToString(sum[:])
}

// licenceLine is a line of a file's first comments that says whose it is.
var licenceLine = regexp.MustCompile(`(?i)copyright|SPDX-License-Identifier|licensed under`)

// LicenceLine is the line by which the file itself says whose it is, or "".
// What a whole set says of that is Set.Licence.
func (f File) LicenceLine() string {
	n := 0
	for line := range strings.Lines(f.Text) {
		if licenceLine.MatchString(line) {
			return strings.TrimSpace(strings.Trim(strings.TrimSpace(line), "/*#"))
		}
		if n++; n == 30 {
			break
		}
	}
	return ""
}

// Set is a set of libraries, as it was read: what lies on disk afterwards does
// not change it.
type Set struct {
	name, path, licence string
	files               []File // by library
}

// OwnSet is the project's kernels.
func OwnSet() *Set {
	s := &Set{name: Own, licence: ownLicence}
	libraries := append(slices.Clone(Libraries), FloatLibrary)
	slices.Sort(libraries)
	for _, l := range libraries {
		name := strings.ToLower(l) + ".metal"
		if b, err := own.ReadFile(name); err == nil { // Library tells of one that was not embedded
			s.files = append(s.files, File{l, name, string(b)})
		}
	}
	return s
}

// String names the set: Own, or how it was asked for.
func (s *Set) String() string { return s.name }

// Path is where the set lies: a folder or a .crate file, "" for the project's.
func (s *Set) Path() string { return s.path }

// Licence is what the set's origin says of its licence, as an SPDX expression,
// or "" where it is not known.
func (s *Set) Licence() string { return s.licence }

// Files are the libraries that the set holds, by name. They may be more than
// Libraries.
func (s *Set) Files() []File { return slices.Clone(s.files) }

// Digest is the SHA-256, in lower-case hex, of all that the set could compile:
// for each library, by name, a line "NAME BYTES" and its text. Two sets of one
// digest are the same source, wherever they lie.
func (s *Set) Digest() string {
	sum := sha256.New()
	for _, f := range s.files {
		fmt.Fprintf(sum, "%s %d\n", f.Library, len(f.Text))
		_, _ = io.WriteString(sum, f.Text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Library is the source text of a library, and the name of the file it stands in.
// A compiler is given no more than that name, so that the same source is the
// same to it and to its cache wherever it lies.
func (s *Set) Library(name string) (text, file string, err error) {
	for _, f := range s.files {
		if f.Library == name {
			return f.Text, f.Name, nil
		}
	}
	wanted, known := candleFiles[name]
	if !known {
		return "", "", fmt.Errorf("kernels: no library is called %q", name)
	}
	if name == FloatLibrary {
		return "", "", fmt.Errorf("kernels: %s has no %s, which matrices of F32, F16 and BF16 are multiplied by, and keys and values of other architectures than llama; take a set that has it, such as %q", s.name, wanted, Own)
	}
	return "", "", fmt.Errorf("kernels: library %s is not among %s's %d", name, s.name, len(s.files))
}
