package ir

import (
	"regexp"
	"strings"
)

// assumed is what a call says of a pointer's alignment.
var assumed = regexp.MustCompile(`\balign [0-9]+`)

// assumeNoAlignment has a load, a store or a copy take any address. clang gives
// each the alignment of its type in C++, 16 for a float4, and a processor may
// refuse, or a code generator leave out, what contradicts it. Kernels address
// vectors wherever an element may lie, as Apple's GPUs allow, and the size of an
// element is no longer known here: a half4 may be moved as an i64. Atomic
// accesses keep theirs, without which they would become calls.
func (in *Inst) assumeNoAlignment() {
	switch {
	case in.Op == "load" || in.Op == "store":
		if strings.HasPrefix(in.Text, in.Op+" atomic ") {
			return
		}
		in.Text, in.Align = in.Text[:in.Args[len(in.Args)-1].End]+", align 1", 1
	case in.Op == "call" && strings.HasPrefix(in.Callee, "llvm.mem"):
		in.Text = assumed.ReplaceAllStringFunc(in.Text, func(s string) string {
			return "align 1" + strings.Repeat(" ", len(s)-len("align 1")) // keeps the spans
		})
	}
}
