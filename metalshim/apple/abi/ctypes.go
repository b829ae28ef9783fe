package abi

// CType is a type encoding in C: its name in the project's C libraries, and its
// size as a method's encoding counts it.
type CType struct {
	Name string
	Size int
}

// CTypes are the types that methods of the tables have, by encoding.
var CTypes = map[string]CType{
	"v": {"void", 0}, "@": {"id", 8}, "#": {"id", 8}, ":": {"SEL", 8}, "B": {"BOOL", 1}, "C": {"u8", 1},
	"i": {"i32", 4}, "I": {"u32", 4}, "q": {"i64", 8}, "Q": {"u64", 8}, "f": {"float", 4}, "d": {"double", 8},
	"*": {"const char *", 8}, "^v": {"void *", 8}, "^@": {"id *", 8}, "^Q": {"u64 *", 8}, "@?": {"struct block *", 8},
	"{?=QQQ}": {"MTLSize", 24}, "{?=QQ}": {"MTLSizeAndAlign", 16}, "{_NSRange=QQ}": {"NSRange", 16},
	"{?=qqq}": {"NSOperatingSystemVersion", 24}, "{MTLResourceID=Q}": {"MTLResourceID", 8},
}
