//go:build !linux

package machine

// AvailableMemory returns how many bytes of memory the system can give before it must
// end a program; ok is false where it does not tell, as here.
func AvailableMemory() (n int64, ok bool) { return 0, false }
