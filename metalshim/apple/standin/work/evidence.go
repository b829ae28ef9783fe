package work

import (
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/trace/names"
)

// EvidenceCode is the number that says to C what the device's cache said of a
// library or a pipeline, in the order of enum evidence of c/standin.h.
func EvidenceCode(e metalshim.Evidence) uint64 {
	switch e.State {
	case names.CacheHit:
		return 1
	case names.CacheMiss:
		return 2
	case names.CacheOff:
		return 3
	}
	return 0 // unknown
}
