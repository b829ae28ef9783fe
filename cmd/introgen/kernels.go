package main

import "github.com/introgen/introgen/engine/metal/kernels"

// openKernels opens the set that --kernels names.
func openKernels(name string) (*kernels.Set, error) { return kernels.Open(name) }
