// Package beside is the device of a program that uses the stand-in for Apple's
// libraries: a process that the program's library has started, which speaks with
// it over a socket and shares the memory of its buffers. The other side is
// c/wire.c, c/remote.c and c/remote_commands.c of package standin.
//
// It works on linux/amd64 and linux/arm64. Elsewhere Serve fails.
package beside

// Facts are what a program is told of the device, beside the device's own.
type Facts struct {
	// AppleFamily is the highest of Apple's GPU families that is shown: 7 for
	// Apple7; 0 for none.
	AppleFamily int
	// Failure is why there is no device; "" where there is one.
	Failure string
}
