//go:build unix && !linux

package pages

// Available returns how many bytes of memory the system can give before it must
// end a program; ok is false where it does not tell, as here.
func Available() (n int64, ok bool) { return 0, false }
