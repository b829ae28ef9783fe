// Package sdktest builds programs in C with the SDK, for tests whose own binary is
// the programs' device.
package sdktest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/metalshim/apple/standin/sdk"
	"github.com/introgen/introgen/metalshim/soft/clang"
)

// Folder is the SDK, the same for all tests of a binary. It lies in the cache folder,
// which shimtest.CacheFolder removes in the end.
var Folder = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp(os.Getenv("XDG_CACHE_HOME"), "sdk"); err != nil {
		return "", err
	}
	return dir, sdk.Write(context.Background(), dir, os.Args[0])
})

// Compile builds the program of a source file. It skips the test where there is no
// compiler.
func Compile(t testing.TB, source string) string {
	t.Helper()
	tools, err := clang.Find(t.Context())
	if err != nil {
		t.Skipf("SKIP: needs clang 19: %v", err)
	}
	dir, err := Folder()
	if errors.Is(err, standin.ErrCompiler) {
		t.Skipf("SKIP: needs a C compiler: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "program")
	argv := append(tools.Compiler, "-Wall", "-Werror", "-O1", "-fblocks", "-I", filepath.Join(dir, "include"), source,
		"-L", filepath.Join(dir, "lib"), "-lMetal", "-lobjc", "-lpthread", "-ldl", "-Wl,-rpath,"+filepath.Join(dir, "lib"), "-o", program)
	if out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}
