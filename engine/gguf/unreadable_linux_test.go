package gguf_test

import "golang.org/x/sys/unix"

// setfsuid(2) counts for one thread, and away from 0 it takes the capabilities
// over files away.
func init() { dropRoot = func() error { return unix.Setfsuid(65534) } }
