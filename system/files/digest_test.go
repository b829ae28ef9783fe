package files

import (
	"os"
	"path/filepath"
	"testing"
)

// abc is the SHA-256 of "abc", from FIPS 180-2, appendix B.1.
const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

func TestSHA256(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(path, []byte("abc"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := SHA256(t.Context(), path); err != nil || got != abc || !IsSHA256(got) {
		t.Fatalf("SHA256 = %s, %v; want %s", got, err, abc)
	}
	for _, path := range []string{filepath.Join(path, "absent"), filepath.Dir(path)} {
		if _, err := SHA256(t.Context(), path); err == nil {
			t.Errorf("SHA256 of %s, which is no file, succeeded", path)
		}
	}
}
