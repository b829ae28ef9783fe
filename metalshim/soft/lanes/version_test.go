package lanes

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVersionFollowsOutput: a cache of compiled kernels is keyed by Version, so
// whoever changes what the pass writes must change Version with it. The digest
// of the golden outputs stands beside the version that they were made with.
func TestVersionFollowsOutput(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden outputs: %v", err)
	}
	sum := sha256.New()
	for _, f := range files { // Glob sorts
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(sum, "%s %d\n%s", filepath.Base(f), len(b), b)
	}
	want := fmt.Sprintf("%s %x", Version, sum.Sum(nil))
	got, err := os.ReadFile("testdata/version.txt")
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(got)) != want {
		t.Errorf("the golden outputs have changed: give Version a new value, and write to testdata/version.txt\n%s", want)
	}
}
