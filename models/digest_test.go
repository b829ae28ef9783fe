package models

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// abc is the SHA-256 of "abc", from FIPS 180-2, appendix B.1.
const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

func TestKeptDigest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.gguf")
	if got, err := ReadDigest(path); got != "" || err != nil {
		t.Errorf("ReadDigest of nothing = %q, %v", got, err)
	}
	if err := WriteDigest(path, abc); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path + ".sha256"); string(got) != abc+"  m.gguf\n" {
		t.Errorf("kept %q; want the format of sha256sum", got)
	}
	if got, err := ReadDigest(path); got != abc || err != nil {
		t.Errorf("ReadDigest = %q, %v; want %s", got, err, abc)
	}
	if err := os.WriteFile(path+".sha256", []byte("nonsense"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadDigest(path); err == nil || !strings.Contains(err.Error(), "m.gguf.sha256") {
		t.Errorf("ReadDigest of nonsense: error %v; want one that names the file", err)
	}
}
