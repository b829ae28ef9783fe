//go:build !linux && !darwin

package cpu

import "runtime"

// physicalCores returns the number of processors: this system does not tell
// cores from their hardware threads in a portable way.
func physicalCores() int { return runtime.NumCPU() }
