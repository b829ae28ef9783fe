package emit

import (
	_ "embed"
	"fmt"
	"strings"
)

// Conversions of 16-bit floats that clang calls functions of its runtime library
// for, where the processor has no instruction; that library is not linked. All
// round to the nearest, to even when between, and keep what is no number. None
// uses an instruction on floats that could flush a denormal number.
var (
	//go:embed bfloat.ll
	roundToBfloat string
	//go:embed half.ll
	convertHalf string
)

// conversions returns what text may need of them. They are kept though nothing
// names them before the code generator does.
func conversions(text string) string {
	var b strings.Builder
	var names []string
	if strings.Contains(text, "bfloat") {
		b.WriteString(functions(roundToBfloat))
		names = append(names, "ptr @__truncsfbf2", "ptr @__truncdfbf2")
	}
	if strings.Contains(text, "half") {
		b.WriteString(functions(convertHalf))
		names = append(names, "ptr @__extendhfsf2", "ptr @__truncsfhf2", "ptr @__truncdfhf2")
	}
	if len(names) == 0 {
		return ""
	}
	fmt.Fprintf(&b, "@llvm.compiler.used = appending global [%d x ptr] [%s], section \"llvm.metadata\"\n", len(names), strings.Join(names, ", "))
	return b.String()
}

// functions is a file of LLVM text from its first function on.
func functions(file string) string { return file[strings.Index(file, "define "):] }

// roundLanes rounds floats to bfloat by integer instructions: those for bfloat
// that some processors have treat denormal numbers in another way.
func (e *vectorEmitter) roundLanes(v string) string {
	const t = "<32 x i32>"
	u := e.let("bitcast <32 x float> %s to %s", v, t)
	h := e.let("lshr %s %s, splat (i32 16)", t, u)
	r := e.let("add %s %s, splat (i32 32767)", t, e.let("and %s %s, splat (i32 1)", t, h))
	s := e.let("lshr %s %s, splat (i32 16)", t, e.let("add %s %s, %s", t, u, r))
	q := e.let("or %s %s, splat (i32 64)", t, h)
	n := e.let("fcmp uno <32 x float> %s, zeroinitializer", v)
	w := e.let("select %s %s, %s %s, %s %s", maskType, n, t, q, t, s)
	return e.let("bitcast <32 x i16> %s to <32 x bfloat>", e.let("trunc %s %s to <32 x i16>", t, w))
}
