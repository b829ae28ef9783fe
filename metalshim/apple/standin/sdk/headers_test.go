//go:build linux && (amd64 || arm64)

package sdk_test

import (
	"debug/elf"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim/apple/standin/sdk/sdktest"
)

// TestHeaders: the library has what the headers declare, and C finds each header
// whole by itself.
func TestHeaders(t *testing.T) {
	dir, err := sdktest.Folder()
	if err != nil {
		t.Skipf("SKIP: needs a C compiler: %v", err)
	}
	library, err := elf.Open(filepath.Join(dir, "lib", "libMetal.so"))
	if err != nil {
		t.Fatal(err)
	}
	defer library.Close()
	symbols, err := library.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			names = append(names, s.Name)
		}
	}
	declared := regexp.MustCompile(`(?m)^OBJC_EXPORT [^(]*?(\w+)\(`)
	source, all := "", 0
	include := filepath.Join(dir, "include")
	err = filepath.WalkDir(include, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(include, path)
		source += "#include <" + name + ">\n"
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			all++
			if runtime.GOARCH != "amd64" && m[1] == "objc_msgSend_stret" {
				continue
			}
			if !slices.Contains(names, m[1]) {
				t.Errorf("%s declares %s, which the library does not have", name, m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if all < 40 {
		t.Errorf("only %d functions were found in the headers", all)
	}
	for line := range strings.Lines(source) {
		file := filepath.Join(t.TempDir(), "header.c")
		if err := os.WriteFile(file, []byte(line+"int main(void) { return 0; }\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		sdktest.Compile(t, file)
	}
}
