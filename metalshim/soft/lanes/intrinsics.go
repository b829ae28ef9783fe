package lanes

import "strings"

// elementwise intrinsics: by base name, how many operands are values; the rest
// are immediate and stay scalar.
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

// intrinsicBase splits llvm.NAME.TYPE… and returns NAME.
func intrinsicBase(callee string) string {
	n, ok := strings.CutPrefix(callee, "llvm.")
	for ok && n != "" {
		if _, ok := elementwise[n]; ok {
			return n
		}
		i := strings.LastIndexByte(n, '.')
		if i < 0 {
			break
		}
		n = n[:i]
	}
	return ""
}

// reductionOf is how an intrinsic reduces a vector to a scalar: a binary operation
// or one of reductions; "" for any other function.
func reductionOf(callee string) string {
	kind, ok := strings.CutPrefix(callee, "llvm.vector.reduce.")
	kind, _, _ = strings.Cut(kind, ".")
	if ok && (binaryOps[kind] || reductions[kind] != "") {
		return kind
	}
	return ""
}

// reductions are the minima and maxima: what each is between two values.
var reductions = map[string]string{"smax": "smax", "smin": "smin", "umax": "umax", "umin": "umin",
	"fmax": "maxnum", "fmin": "minnum", "fmaximum": "maximum", "fminimum": "minimum"}
