//go:build !amd64 && !arm64

package threads

import "sync/atomic"

// spin looks up to n times until *v is not old.
func spin(v *atomic.Uint32, old uint32, n int) {
	for i := 0; i < n && v.Load() == old; i++ {
	}
}
