package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHostile: a file that is no suite is an error of one line.
func TestHostile(t *testing.T) {
	dir := t.TempDir()
	for want, text := range map[string]string{
		"nested deeper":          "a = " + strings.Repeat("[", 1<<20),
		"has more than":          strings.Repeat("# comment\n", 1<<19),
		"has no name":            "[[test]]\n",
		"two tests are called":   "[[test]]\nname = \"a\"\nexpect = { x = 1 }\n[[test]]\nname = \"a\"\nexpect = { x = 1 }\n",
		"expects nothing":        "[[test]]\nname = \"a\"\n",
		"are 0 or more":          "[[test]]\nname = \"a\"\nexpect = { x = 1 }\nrelative = nan\n",
		"it has no [[test]]":     "source = \"a.metal\"\n",
		"suite.toml:1:":          "source = 3\n",
		"key test.treads is not": "[[test]]\nname = \"a\"\ntreads = 4\n",
		"suite.toml:2:":          "[[test]]\nname = \xff\n",
	} {
		path := filepath.Join(dir, "suite.toml")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("want %q, got %.300v", want, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("source = \"a.metal\"\n[[test]]\nname = \"a\"\ngrid = [1, 2]\nbuffers = { x = \"f32:1\" }\nexpect = { x = \"f32:1\" }\n")
	path := filepath.Join(f.TempDir(), "suite.toml")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, _ = Read(path) // it must not crash
	})
}
