package emit

import (
	"fmt"
	"strings"

	"github.com/introgen/introgen/metalshim/soft/lanes/ir"
)

// Codes that the kernel returns in place of a resume point.
const (
	codeDone    = 65535
	codeStopped = 65534
)

// frame collects the fields of the memory a simdgroup keeps between calls.
// Every field begins at a multiple of 64 bytes.
type frame struct {
	fields []string
	index  map[string]int
}

// Fields that the runtime and sg.h know by offset: the head (x, y, z of the 32
// lanes, then the row flag; 448 bytes) and the lanes' resume points.
const (
	fieldHead = "head"
	fieldPCs  = "pcs"
	headRow   = 96 // index of the row flag in the head, in i32
)

// pad64 has no size but the alignment of 64 bytes.
const pad64 = "[0 x <16 x float>]"

func newFrame() *frame {
	fr := &frame{index: map[string]int{}}
	fr.add(fieldHead, "[112 x i32]")
	fr.add(fieldPCs, "[32 x i32]")
	return fr
}

// add makes a field once; a second field of the same name is the first.
func (fr *frame) add(name, typ string) {
	if _, ok := fr.index[name]; ok {
		return
	}
	fr.index[name] = len(fr.fields) + 1
	fr.fields = append(fr.fields, pad64, typ)
}

// define returns the type %msl.frame and its size.
func (fr *frame) define() string {
	return fmt.Sprintf("%%msl.frame = type { %s, %s }\n@msl_frame_size = constant i64 %s\n",
		strings.Join(fr.fields, ", "), pad64, sizeOf("%msl.frame"))
}

// offset is a constant expression for where a field begins.
func (fr *frame) offset(name string) string {
	return fmt.Sprintf("ptrtoint (ptr getelementptr (%%msl.frame, ptr null, i64 0, i32 %d) to i64)", fr.index[name])
}

// address is the computation of a field's address, or that of a lane's element
// when lane is not "".
func (fr *frame) address(name, lane string) string {
	if lane != "" {
		lane = ", i64 " + lane
	}
	return fmt.Sprintf("getelementptr inbounds %%msl.frame, ptr %%frame, i64 0, i32 %d%s", fr.index[name], lane)
}

// sizeOf is a constant expression for the bytes an element of an array of t
// takes.
func sizeOf(t string) string {
	return fmt.Sprintf("ptrtoint (ptr getelementptr (%s, ptr null, i64 1) to i64)", t)
}

// alignedElem returns a type of t's content whose size is a multiple of align.
func alignedElem(t *ir.Type, align int) string {
	switch {
	case align > 32:
		return fmt.Sprintf("{ %s, %s }", t, pad64)
	case align > 16:
		return fmt.Sprintf("{ %s, [0 x <8 x float>] }", t)
	case align > 8:
		return fmt.Sprintf("{ %s, [0 x <4 x float>] }", t)
	case align > 4:
		return fmt.Sprintf("{ %s, [0 x i64] }", t)
	}
	return t.String()
}

// tgsBlock returns the type of the static threadgroup memory and its size.
func tgsBlock(vars []ir.ThreadVar) string {
	if len(vars) == 0 {
		return "@msl_tgs_size = constant i64 0\n"
	}
	var b strings.Builder
	b.WriteString("%msl.tgs = type { ")
	for _, v := range vars {
		fmt.Fprintf(&b, "%s, %s, ", pad64, v.Type)
	}
	fmt.Fprintf(&b, "%s }\n@msl_tgs_size = constant i64 %s\n", pad64, sizeOf("%msl.tgs"))
	return b.String()
}
