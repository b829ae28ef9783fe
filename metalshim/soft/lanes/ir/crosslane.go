package ir

import (
	"fmt"
	"strings"
)

// syncPrefix begins the name of every cross-lane operation.
const syncPrefix = "msl_sy_"

// CrossLaneOp describes a cross-lane operation.
type CrossLaneOp struct {
	sig     string // result and arguments: f float, i i32, l i64, p ptr, v void
	Uniform bool   // all active lanes get the same result
	Barrier bool   // waits for the other simdgroups
	Memory  bool   // reads or writes memory beside its result
}

// CrossLaneOps are the cross-lane operations by name without prefix; their meaning
// is in sg.h.
var CrossLaneOps = map[string]CrossLaneOp{
	"fadd": {sig: "ff", Uniform: true}, "fmul": {sig: "ff", Uniform: true},
	"fmax": {sig: "ff", Uniform: true}, "fmin": {sig: "ff", Uniform: true},
	"iadd": {sig: "ii", Uniform: true}, "imul": {sig: "ii", Uniform: true},
	"and": {sig: "ii", Uniform: true}, "or": {sig: "ii", Uniform: true}, "xor": {sig: "ii", Uniform: true},
	"smax": {sig: "ii", Uniform: true}, "smin": {sig: "ii", Uniform: true},
	"umax": {sig: "ii", Uniform: true}, "umin": {sig: "ii", Uniform: true},
	"fpadd": {sig: "ff"}, "fpmul": {sig: "ff"}, "fxadd": {sig: "ff"}, "fxmul": {sig: "ff"},
	"ipadd": {sig: "ii"}, "ipmul": {sig: "ii"}, "ixadd": {sig: "ii"}, "ixmul": {sig: "ii"},
	"sh": {sig: "iii"}, "shl": {sig: "lli"},
	"bc": {sig: "iii", Uniform: true}, "bcl": {sig: "lli", Uniform: true},
	"first": {sig: "ii", Uniform: true}, "firstl": {sig: "ll", Uniform: true},
	"ballot": {sig: "ii", Uniform: true}, "active": {sig: "i", Uniform: true},
	"tgbar": {sig: "v", Barrier: true, Memory: true}, "sgbar": {sig: "v", Memory: true},
	"mma":   {sig: "llll"},
	"mld32": {sig: "lpl", Memory: true}, "mld16": {sig: "ipl", Memory: true},
	"mldt32": {sig: "lpl", Memory: true}, "mldt16": {sig: "ipl", Memory: true},
	"mst32": {sig: "vlpl", Memory: true}, "mst16": {sig: "vipl", Memory: true},
	"mstt32": {sig: "vlpl", Memory: true}, "mstt16": {sig: "vipl", Memory: true},
}

// JoinOp is the pass's own operation: it has no effect but that lanes meet.
const JoinOp = "join"

var sigTypes = map[byte]*Type{'f': F32, 'i': I32, 'l': I64, 'p': Ptr, 'v': tVoid}

// CrossLane returns the name of the cross-lane operation an instruction is, or "".
func CrossLane(in *Inst) string {
	if in.Op == "call" && strings.HasPrefix(in.Callee, syncPrefix) {
		return in.Callee[len(syncPrefix):]
	}
	return ""
}

// checkSync holds a cross-lane operation to its signature.
func checkSync(in *Inst) error {
	name := CrossLane(in)
	op, ok := CrossLaneOps[name]
	if !ok {
		return fmt.Errorf("unknown cross-lane operation @%s", in.Callee)
	}
	got := []string{in.Type.String()}
	for _, a := range in.Args {
		got = append(got, a.Type.String())
	}
	want := make([]string, len(op.sig))
	for i := range op.sig {
		want[i] = sigTypes[op.sig[i]].String()
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		return fmt.Errorf("@%s has types %s (result first), want %s", in.Callee, strings.Join(got, ", "), strings.Join(want, ", "))
	}
	return nil
}
