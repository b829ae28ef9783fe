package introgen_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// TestDependencies holds docs/dependencies.md to go.mod: a reason for each
// module that the project itself imports, and none for one that is gone.
func TestDependencies(t *testing.T) {
	out, err := exec.Command("go", "mod", "edit", "-json").Output()
	if err != nil {
		t.Fatalf("go mod edit: %v", err)
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^- `([^`]+)`: (.+)$").FindAllStringSubmatch(string(text), -1) {
		reasons[m[1]] = m[2]
	}
	required := map[string]bool{}
	for _, r := range mod.Require {
		required[r.Path] = true
		if !r.Indirect && len(reasons[r.Path]) < 20 {
			t.Errorf("docs/dependencies.md gives no reason for %s", r.Path)
		}
	}
	for path := range reasons {
		if !required[path] {
			t.Errorf("docs/dependencies.md gives a reason for %s, which go.mod does not require", path)
		}
	}
}
