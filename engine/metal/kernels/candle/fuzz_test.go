package candle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/system/files"
)

func FuzzLock(f *testing.F) {
	sum := strings.Repeat("0f", 32)
	f.Add("version = 4\n\n[[package]]\nname = \"" + pkg + "\"\nversion = \"1.2.3\"\nsource = \"registry\"\nchecksum = \"" + sum + "\"\ndependencies = [\n \"half\",\n]\n")
	f.Add("[[package]]\nname = \"" + pkg + "\"\nversion = \"1.2.3\"\n[[package]]\nchecksum = \"" + sum + "\"")
	f.Fuzz(func(t *testing.T, lock string) {
		if got, err := locked(lock, "1.2.3"); err == nil && (!files.IsSHA256(got) || !strings.Contains(lock, got)) {
			t.Errorf("checksum %q", got)
		}
	})
}

// FuzzManifest: whatever a manifest says, no file outside of its folder is read,
// and none that has other bytes.
func FuzzManifest(f *testing.F) {
	text := []byte("// a")
	good := `{"Format":1,"Crate":"` + pkg + `","Version":"1.2.3","Files":{"affine.metal":{"Bytes":4,"SHA256":"` + sourceOf(text).SHA256 + `"}}}`
	f.Add(good)
	f.Add(strings.Replace(good, "affine.metal", "../affine.metal", 1))
	f.Add(strings.Replace(good, ":4,", ":-1,", 1))
	dir := f.TempDir()
	for _, name := range []string{"set/affine.metal", "affine.metal"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, manifest string) {
		set := filepath.Join(dir, "set")
		if err := os.WriteFile(filepath.Join(set, manifestName), []byte(manifest), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := readManifest(set)
		if err != nil {
			return
		}
		texts, err := m.read(set)
		for name, b := range texts {
			if err != nil || name != "affine.metal" || string(b) != string(text) {
				t.Errorf("read %q: %q, %v", name, b, err)
			}
		}
	})
}
