package signatures

import (
	"regexp"
	"strings"
)

// declaration is a parameter taken apart.
type declaration struct {
	base     string // its type without qualifiers: "size_t", "float", "T"
	pointer  bool   // to an array; else a value or a reference to one
	constant bool   // it cannot be written
	device   bool   // it lies where buffers do
}

var typeWord = regexp.MustCompile(`[A-Za-z_][\w:]*`)

// qualifiers are the words around a type that are not part of it.
var qualifiers = map[string]bool{"const": true, "constant": true, "device": true, "threadgroup": true, "thread": true,
	"volatile": true, "restrict": true, "typename": true, "struct": true, "unsigned": true}

// declared takes a parameter's text apart, "device const T *x" or "constant
// size_t& n".
func declared(text string) declaration {
	d := declaration{}
	before := text
	if i := strings.IndexAny(text, "*&"); i >= 0 {
		before = text[:i]
		d.pointer = text[i] == '*'
	} else if i := strings.IndexByte(text, '['); i >= 0 { // an array is a pointer
		before, d.pointer = text[:i], true
	} else if i := strings.LastIndexByte(text, ' '); i >= 0 {
		before = text[:i]
	}
	for _, w := range typeWord.FindAllString(before, -1) {
		d.device = d.device || w == "device"
		d.constant = d.constant || w == "const" || w == "constant"
		if !qualifiers[w] && d.base == "" {
			d.base = w
		}
	}
	return d
}

// sizes are the bytes of MSL's scalars (Metal Shading Language Specification,
// 2.1); a template's parameter has none here.
var sizes = map[string]int{
	"bool": 1, "char": 1, "uchar": 1, "int8_t": 1, "uint8_t": 1,
	"short": 2, "ushort": 2, "int16_t": 2, "uint16_t": 2, "half": 2, "bfloat": 2,
	"int": 4, "uint": 4, "int32_t": 4, "uint32_t": 4, "float": 4,
	"long": 8, "ulong": 8, "int64_t": 8, "uint64_t": 8, "size_t": 8, "ptrdiff_t": 8,
}

var floating = map[string]bool{"half": true, "bfloat": true, "float": true}

// vectors finds what makes a vector of a scalar.
var vectors = regexp.MustCompile(`^(?:metal::)?(?:packed_)?([a-z_]+)[2-4]$`)

// other says that the elements of a buffer are known to be of another size than
// m's. Bytes may be anything.
func (d declaration) other(m declaration) bool {
	size, wanted := sizes[vectors.ReplaceAllString(d.base, "$1")], sizes[vectors.ReplaceAllString(m.base, "$1")]
	return size > 1 && wanted > 1 && size != wanted
}
