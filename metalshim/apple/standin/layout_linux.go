//go:build linux && (amd64 || arm64)

package standin

import "unsafe"

// The structures of c/standin.h.

type cText struct {
	p *byte
	n uint64
}

func (t cText) String() string {
	if t.n == 0 {
		return ""
	}
	return string(unsafe.Slice(t.p, t.n))
}

func textOf(s string) cText { return cText{unsafe.StringData(s), uint64(len(s))} }

type cSource struct {
	text            cText
	math, functions int64
	version         uint64
	macros          *cText
	macroCount      uint64
}

type cConstant struct{ index, kind, bits uint64 }

type cPipelineFacts struct{ maxThreads, width, memory, evidence uint64 }

type cCommand struct {
	operation, object, index, offset, length uint64
	other, otherOffset                       uint64
	bytes                                    *byte
	grid, group                              [3]uint64
}

type cFacts struct {
	name, architecture, versionText                        cText
	registry, maxGroup, maxMemory, maxLength               uint64
	allocatedLimit, unified, lowPower, headless, removable uint64
	family                                                 int64
	lowPowerMode                                           uint64
	thermal                                                int64
	version                                                [3]int64
	physical                                               uint64
}

// cBackend is struct backend: functions that C calls.
type cBackend [17]uintptr

// layout is what standin_layout must answer.
const layout = uint64(unsafe.Sizeof(cBackend{}))<<48 | uint64(unsafe.Sizeof(cFacts{}))<<32 |
	uint64(unsafe.Sizeof(cCommand{}))<<16 | uint64(unsafe.Sizeof(cSource{}))
