//go:build !linux

package threads

func newParker(int) parker { return newMonitor() }
