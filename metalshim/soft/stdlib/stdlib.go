// Package stdlib holds the text of the Metal standard library as the soft
// driver has it: C++17 for clang 19, written after the Metal Shading Language
// Specification.
package stdlib

import (
	_ "embed"
	"regexp"
	"strings"
)

//go:embed macros.h
var macros string

//go:embed types.h
var types string

//go:embed vector.h
var vector string

//go:embed packed.h
var packed string

//go:embed utility.h
var utility string

//go:embed pack.h
var pack string

//go:embed simd.h
var simd string

//go:embed math.h
var math string

//go:embed integer.h
var integer string

//go:embed matrix.h
var matrix string

//go:embed atomic.h
var atomic string

//go:embed simdgroup.h
var simdgroup string

//go:embed simdgroup_matrix.h
var simdgroupMatrix string

//go:embed kernel.h
var kernel string

// Header is everything a rewritten source needs in front of it.
func Header() string {
	var b strings.Builder
	for _, part := range []struct{ name, text string }{
		{"metal_types", types}, {"metal_vector", vector}, {"metal_packed_vector", packed},
		{"metal_math", math}, {"metal_integer", integer},
		{"metal_matrix", matrix}, {"metal_atomic", atomic}, {"metal_simdgroup", simdgroup},
		{"metal_simdgroup_matrix", simdgroupMatrix}, {"metal_utility", utility}, {"metal_pack", pack}, {"simd/simd.h", simd},
		{"metal_kernel", kernel},
	} {
		b.WriteString("# 1 \"<" + part.name + ">\"\n")
		b.WriteString(part.text)
	}
	return b.String()
}

// Frame declares msl_tg alone, with the scalar types it uses.
func Frame() string {
	return "typedef unsigned int uint;\n" + kernel[strings.Index(kernel, "struct msl_tg"):strings.Index(kernel, "namespace msl_k")]
}

// headers are the standard library's own files. Their declarations are always
// there; an #include of one is left out.
var headers = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(include|import)[ \t]*<(metal_\w+|simd/simd\.h)>.*$`)

// pragmas are those whose words the preprocessor expands for a compiler that reads
// the text itself, and leaves as they are in preprocessed text.
var pragmas = regexp.MustCompile(`(?m)^([ \t]*)#[ \t]*pragma[ \t]+((?:unroll|clang[ \t]+loop)\b[ \t]*[^\n\r]*[A-Za-z_][^\n\r]*)$|_Pragma[ \t]*\([ \t]*"((?:unroll|clang[ \t]+loop)\b[^"\n]*[A-Za-z_][^"\n]*)"[ \t]*\)`)

// Preprocessed is the text to give to clang's preprocessor for an MSL source:
// the library's macros, then the source under its file's name, with the
// numbers of its lines unchanged. What it is to expand in a pragma stands in
// __msl_pragma__(…), for package msl. A mark of the byte order means something at the
// beginning of a text alone, which that of the source no longer is.
func Preprocessor(file, source string) string {
	name := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(file)
	text := headers.ReplaceAllString(strings.TrimPrefix(source, "\ufeff"), "")
	text = pragmas.ReplaceAllStringFunc(text, func(line string) string {
		m := pragmas.FindStringSubmatch(line)
		words, _, _ := strings.Cut(m[2]+m[3], "//")
		return m[1] + "__msl_pragma__(" + words + ")"
	})
	return "# 1 \"<metal_macros>\"\n" + macros + "# 1 \"" + name + "\"\n" + text
}
