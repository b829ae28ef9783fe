//go:build !amd64 && !arm64

package arithmetic

// supported are the assembly's ways that this machine can use: none.
func supported() []multiplier { return nil }
