//go:build linux && (amd64 || arm64)

package standin

import (
	"context"
	"errors"
	"fmt"

	"github.com/introgen/introgen/metalshim/soft/clibrary"
)

// Build compiles the stand-in, unless it has been before, and returns the path
// of the shared object, in the user's cache. It uses the clang that the soft
// driver uses, else cc. Without either its error is ErrCompiler.
func Build(ctx context.Context) (string, error) { return build(ctx, testLibrary()) }

// LibraryName is the SONAME of what BuildLibrary makes.
const LibraryName = "libintrogen-metal.so"

// BuildLibrary compiles the library that programs are linked with or loaded with,
// as Build does the stand-in of tests.
func BuildLibrary(ctx context.Context) (string, error) {
	return build(ctx, clibrary.Library{Name: "standin", Text: programSource(),
		Flags: func(arch string) []string { return append(flags(arch), programFlags...) },
		Link:  []string{"-soname", LibraryName, "-z", "nodelete", "-z", "now", "--build-id=none"}})
}

func testLibrary() clibrary.Library {
	return clibrary.Library{Name: "standin", Text: source(), Flags: flags}
}

func build(ctx context.Context, l clibrary.Library) (string, error) {
	path, err := l.Build(ctx)
	if errors.Is(err, clibrary.ErrCompiler) {
		return "", fmt.Errorf("the stand-in of Apple's libraries: %w", err)
	}
	return path, err
}
