//go:build !linux && !darwin

package machine

import "runtime"

// PhysicalCores returns the number of processors: this system does not tell
// cores from their hardware threads in a portable way.
func PhysicalCores() int { return runtime.NumCPU() }
