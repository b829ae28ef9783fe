//go:build amd64 || arm64

package threads

import "sync/atomic"

// spin looks up to n times, with a pause between looks that leaves the core to
// its other thread, until *v is not old.
//
//go:noescape
func spin(v *atomic.Uint32, old uint32, n int)
