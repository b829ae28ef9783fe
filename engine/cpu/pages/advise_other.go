//go:build unix && !linux

package pages

// advise does nothing: only Linux can be asked for pages of a size.
func advise([]byte, Size) {}

// HugeBytes returns how much of the memory huge pages hold at the moment; ok is
// false where the system does not tell, as here.
func (m *Memory) HugeBytes() (n int, ok bool) { return 0, false }
