//go:build !amd64 && !arm64

package bandwidth

// best returns the reader and its name.
func best() (string, func(p *byte, n int) uint64) { return "generic", readGeneric }
