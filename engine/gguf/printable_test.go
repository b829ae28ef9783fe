package gguf

import (
	"strings"
	"testing"
)

// TestPrintable: a message must stay one readable line, whatever a key holds.
func TestPrintable(t *testing.T) {
	for key, want := range map[string]string{
		"general.name":           "general.name",
		"a\nb":                   `"a\nb"`,
		"é":                      `"é"`,
		strings.Repeat("k", 80):  strings.Repeat("k", 80),
		strings.Repeat("k", 999): `"` + strings.Repeat("k", 80) + `"… (999 bytes)`,
	} {
		if got := printable(key); got != want {
			t.Errorf("%q is shown as %s, want %s", key, got, want)
		}
	}
}
