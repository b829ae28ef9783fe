package transformer

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestPage: docs/models.md lists the keys that are known, with what is said of
// them here.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	const prefix = "llama."
	for name, k := range keys {
		var want string
		switch k.use {
		case read:
			want = fmt.Sprintf("`%s%s`", prefix, name)
		case idle:
			want = fmt.Sprintf("| `%s%s` | %s |\n", prefix, name, k.why)
		case neutral:
			want = fmt.Sprintf("| `%s%s` | %s | %s |\n", prefix, name, k.allowedIn("llama"), k.why)
		}
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/models.md has no line %s", want)
		}
	}
	if got := strings.Count(string(page), "| `"+prefix) + strings.Count(string(page), ", `"+prefix) + 1; got < len(keys) {
		t.Errorf("docs/models.md has %d keys of %d", got, len(keys))
	}
}
