//go:build unix && !linux

package cpu

// adviseHuge does nothing: only Linux can be asked for huge pages.
func adviseHuge([]byte) {}
