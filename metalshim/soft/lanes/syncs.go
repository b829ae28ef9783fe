package lanes

import (
	"fmt"
	"strings"
)

// syncPrefix begins the name of every cross-lane operation.
const syncPrefix = "msl_sy_"

// syncOp describes a cross-lane operation.
type syncOp struct {
	sig     string // result and arguments: f float, i i32, l i64, p ptr, v void
	uniform bool   // all active lanes get the same result
	barrier bool   // waits for the other simdgroups
	memory  bool   // reads or writes memory beside its result
}

// syncOps are the cross-lane operations by name without prefix; their meaning
// is in sg.h.
var syncOps = map[string]syncOp{
	"fadd": {sig: "ff", uniform: true}, "fmul": {sig: "ff", uniform: true},
	"fmax": {sig: "ff", uniform: true}, "fmin": {sig: "ff", uniform: true},
	"iadd": {sig: "ii", uniform: true}, "imul": {sig: "ii", uniform: true},
	"and": {sig: "ii", uniform: true}, "or": {sig: "ii", uniform: true}, "xor": {sig: "ii", uniform: true},
	"smax": {sig: "ii", uniform: true}, "smin": {sig: "ii", uniform: true},
	"umax": {sig: "ii", uniform: true}, "umin": {sig: "ii", uniform: true},
	"fpadd": {sig: "ff"}, "fpmul": {sig: "ff"}, "fxadd": {sig: "ff"}, "fxmul": {sig: "ff"},
	"ipadd": {sig: "ii"}, "ipmul": {sig: "ii"}, "ixadd": {sig: "ii"}, "ixmul": {sig: "ii"},
	"sh": {sig: "iii"}, "shl": {sig: "lli"},
	"bc": {sig: "iii", uniform: true}, "bcl": {sig: "lli", uniform: true},
	"first": {sig: "ii", uniform: true}, "firstl": {sig: "ll", uniform: true},
	"ballot": {sig: "ii", uniform: true}, "active": {sig: "i", uniform: true},
	"tgbar": {sig: "v", barrier: true, memory: true}, "sgbar": {sig: "v", memory: true},
	"mma":   {sig: "llll"},
	"mld32": {sig: "lpl", memory: true}, "mld16": {sig: "ipl", memory: true},
	"mldt32": {sig: "lpl", memory: true}, "mldt16": {sig: "ipl", memory: true},
	"mst32": {sig: "vlpl", memory: true}, "mst16": {sig: "vipl", memory: true},
	"mstt32": {sig: "vlpl", memory: true}, "mstt16": {sig: "vipl", memory: true},
}

// joinOp is the pass's own operation: it has no effect but that lanes meet.
const joinOp = "join"

var sigTypes = map[byte]*typ{'f': tFloats["float"], 'i': tI32, 'l': tI64, 'p': tPtr, 'v': tVoid}

// syncOf returns the name of the cross-lane operation an instruction is, or "".
func syncOf(in *inst) string {
	if in.op == "call" && strings.HasPrefix(in.callee, syncPrefix) {
		return in.callee[len(syncPrefix):]
	}
	return ""
}

// checkSync holds a cross-lane operation to its signature.
func checkSync(in *inst) error {
	name := syncOf(in)
	op, ok := syncOps[name]
	if !ok {
		return fmt.Errorf("unknown cross-lane operation @%s", in.callee)
	}
	got := []string{in.typ.String()}
	for _, a := range in.args {
		got = append(got, a.typ.String())
	}
	want := make([]string, len(op.sig))
	for i := range op.sig {
		want[i] = sigTypes[op.sig[i]].String()
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		return fmt.Errorf("@%s has types %s (result first), want %s", in.callee, strings.Join(got, ", "), strings.Join(want, ", "))
	}
	return nil
}
