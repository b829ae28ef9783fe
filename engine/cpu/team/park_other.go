//go:build !linux

package team

func newParker(int) parker { return newMonitor() }
