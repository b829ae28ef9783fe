package ir

import (
	"fmt"
	"strings"
)

// elementwise are the intrinsics that work on each element by itself: by name,
// how many operands are values; the rest are immediate and stay scalar.
var elementwise = map[string]int{
	"fabs": 1, "sqrt": 1, "floor": 1, "ceil": 1, "trunc": 1, "rint": 1, "nearbyint": 1, "round": 1, "roundeven": 1,
	"canonicalize": 1, "sin": 1, "cos": 1, "tan": 1, "exp": 1, "exp2": 1, "exp10": 1, "log": 1, "log2": 1, "log10": 1,
	"asin": 1, "acos": 1, "atan": 1, "sinh": 1, "cosh": 1, "tanh": 1, "is.fpclass": 1,
	"pow": 2, "copysign": 2, "minnum": 2, "maxnum": 2, "minimum": 2, "maximum": 2, "ldexp": 2, "atan2": 2,
	"fma": 3, "fmuladd": 3, "fptosi.sat": 1, "fptoui.sat": 1,
	"ctpop": 1, "ctlz": 1, "cttz": 1, "abs": 1, "bitreverse": 1, "bswap": 1,
	"smax": 2, "smin": 2, "umax": 2, "umin": 2, "sadd.sat": 2, "uadd.sat": 2, "ssub.sat": 2, "usub.sat": 2,
	"sshl.sat": 2, "ushl.sat": 2, "fshl": 3, "fshr": 3,
}

// Elementwise takes the name llvm.NAME.TYPE… of an intrinsic that works on each
// element by itself apart: its first operands are values, the rest immediate. Of
// any other function name is "".
func Elementwise(callee string) (name string, values int) {
	name, ok := strings.CutPrefix(callee, "llvm.")
	for ok && name != "" {
		if values, ok := elementwise[name]; ok {
			return name, values
		}
		name = name[:max(0, strings.LastIndexByte(name, '.'))]
	}
	return "", 0
}

// pairs are the minima and maxima among the reductions: what each is between
// two values.
var pairs = map[string]string{"smax": "smax", "smin": "smin", "umax": "umax", "umin": "umin",
	"fmax": "maxnum", "fmin": "minnum", "fmaximum": "maximum", "fminimum": "minimum"}

// Reduction says how an intrinsic reduces a vector to a scalar: by an
// instruction, op, or by another intrinsic between two values, llvm.PAIR. Of any
// other function both are "".
func Reduction(callee string) (op, pair string) {
	kind, ok := strings.CutPrefix(callee, "llvm.vector.reduce.")
	kind, _, _ = strings.Cut(kind, ".")
	switch {
	case ok && BinaryOps[kind]:
		return kind, ""
	case ok:
		return "", pairs[kind]
	}
	return "", ""
}

// Suffix is how LLVM writes a type in an intrinsic's name.
func Suffix(n int, t *Type) string {
	s := t.Text
	switch s {
	case "half":
		s = "f16"
	case "bfloat":
		s = "bf16"
	case "float":
		s = "f32"
	case "double":
		s = "f64"
	case "ptr":
		s = "p0"
	}
	return fmt.Sprintf("v%d%s", n, s)
}
