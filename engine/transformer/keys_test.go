package transformer

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestPage: docs/models.md lists the keys that are known, with what is said of
// them here: those of all architectures as llama's, and those of one as its own.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := func(arch string, keys map[string]key) {
		for name, k := range keys {
			var want string
			switch k.use {
			case read:
				want = fmt.Sprintf("`%s.%s`", arch, name)
			case idle:
				want = fmt.Sprintf("| `%s.%s` | %s |\n", arch, name, k.why)
			case neutral:
				want = fmt.Sprintf("| `%s.%s` | %s | %s |\n", arch, name, k.allowedIn(arch), k.why)
			}
			if !strings.Contains(string(page), want) {
				t.Errorf("docs/models.md has no line %s", want)
			}
		}
	}
	listed("llama", commonKeys)
	for _, a := range architectures {
		listed(a.Name, a.keys)
		if !strings.Contains(string(page), "| `"+a.Name+"` |") {
			t.Errorf("docs/models.md has no line of the architecture %s", a.Name)
		}
	}
	const prefix = "llama."
	if got := strings.Count(string(page), "| `"+prefix) + strings.Count(string(page), ", `"+prefix) + 1; got < len(commonKeys) {
		t.Errorf("docs/models.md has %d keys of %d", got, len(commonKeys))
	}
}
