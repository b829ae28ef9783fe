//go:build !amd64 && !arm64

package kernel

// supported returns the sets with assembly that this machine can run, best
// first.
func supported() []*Set { return nil }
