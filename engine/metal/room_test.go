package metal

import "testing"

// TestRoom: 131072 rows of 32 cosines and 32 sines for each of 4 layers, 32 MiB each;
// and 2 x 2 heads of 2048 keys of 32 values, 512 KiB, in each of 2 layers.
func TestRoom(t *testing.T) {
	for name, want := range map[string]struct {
		what  string
		bytes int64
	}{
		"gemma3-linear": {"rotary tables of 131072 positions in each of 4 layers", 4 * 131072 * 64 * 4},
		"phi3-small":    {"a cache of 2048 positions in each of 2 layers", 2 * 2 * 2 * 2048 * 32 * 4},
		"llama-small":   {},
	} {
		if what, bytes := Room(caseNamed(t, name)); what != want.what || bytes != want.bytes {
			t.Errorf("%s: %q, %d bytes; by hand %q, %d", name, what, bytes, want.what, want.bytes)
		}
	}
}
