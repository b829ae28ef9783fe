package recorder

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"github.com/introgen/introgen/metalshim/soft/clibrary"
)

//go:embed c
var files embed.FS

// order is that of the files in the one translation unit that they form.
var order = []string{
	"libc.h", "ring.h", "platform.c", "ring.c", "entry.c",
}

// source is the text that is compiled. Messages of the compiler name the files.
func source() string {
	var b strings.Builder
	for _, name := range order {
		text, err := files.ReadFile("c/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		fmt.Fprintf(&b, "# 1 %q\n%s", name, text)
	}
	return b.String()
}

// flags are for clang and gcc. The sources need no header.
func flags(arch string) []string {
	f := []string{"-x", "c", "-std=c11", "-nostdinc", "-O2", "-fPIC", "-fvisibility=hidden", "-fno-omit-frame-pointer", "-fno-stack-protector",
		"-Werror=missing-prototypes", "-Werror=incompatible-pointer-types", "-Werror=int-conversion"}
	if arch == "arm64" {
		f = append(f, "-mno-outline-atomics")
	}
	return f
}

// library is the shared object to be.
func library() clibrary.Library {
	return clibrary.Library{Name: "recorder", Text: source(), Flags: flags, Link: []string{"-framework", "Metal"}}
}

// Build compiles the library for this machine, unless it has been before, and
// returns its path, in the user's cache. On Linux it uses the clang that the
// soft driver uses, else cc; on a Mac cc, for both of its architectures.
func Build(ctx context.Context) (string, error) { return library().Build(ctx) }
