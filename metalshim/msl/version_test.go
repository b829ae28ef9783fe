package msl

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestVersionIsOfAllFiles: the digest covers every file that is compiled, but for
// the one that makes it.
func TestVersionIsOfAllFiles(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") || f == "version.go" })
	list, err := code.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range list {
		got = append(got, f.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("the version is that of %v, want %v", got, want)
	}
	if len(Version()) != 64 {
		t.Errorf("version %q", Version())
	}
}
