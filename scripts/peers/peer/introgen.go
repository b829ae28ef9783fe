package peer

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/introgen/introgen/system/tools"
)

// Introgen builds introgen into the folder of that name in the cache, from the
// module that the working folder lies in.
func (s *Setup) Introgen(ctx context.Context, folder string) (string, error) {
	program := filepath.Join(s.Cache, folder, "introgen")
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		return "", err
	}
	err := build(ctx, s.Log, "", []string{"CGO_ENABLED=0"}, []string{"go", "build", "-buildvcs=auto", "-o", program, "github.com/introgen/introgen/cmd/introgen"})
	return program, err
}

// Revision is what the program says of itself: its version and commit.
func Revision(ctx context.Context, program string) string {
	line, _ := tools.Ask(ctx, []string{program, "--version"}) // "" where it does not say
	return strings.TrimPrefix(line, "introgen version ")
}
