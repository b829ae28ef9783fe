//go:build unix && !linux

package soft

func advise([]byte) {}
