package recorder

import (
	"context"
	"embed"
	"fmt"
	"runtime"
	"strings"

	"github.com/introgen/introgen/metalshim/soft/clibrary"
)

//go:generate go run ./gen hooks.tsv c/hooks.h

//go:embed c
var files embed.FS

// order is that of the files in the one translation unit that they form.
var order = []string{
	"libc.h", "ring.h", "platform.c", "ring.c", "sha256.c",
	"objc.h", "hooks.h", "runtime.c", "adopt.c", "blocks.c",
	"libraries.c", "functions.c", "pipelines.c", "compiler.c", "resources.c", "commands.c", "encoders.c", "queues4.c", "entry.c",
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

// initialExec has a thread's own variables found without a call: the library is
// loaded when the program starts.
const initialExec = "-ftls-model=initial-exec"

// flags are for clang and gcc. The sources need no header.
func flags(arch string) []string {
	f := []string{"-x", "c", "-std=c11", "-nostdinc", "-O2", "-fPIC", "-fvisibility=hidden", "-fno-omit-frame-pointer", "-fno-stack-protector",
		"-Werror=missing-prototypes", "-Werror=incompatible-pointer-types", "-Werror=int-conversion"}
	switch arch {
	case "arm64":
		f = append(f, "-mno-outline-atomics", initialExec)
	case "amd64":
		f = append(f, initialExec)
	case "": // a Mac, whose exceptions pass through
		f = append(f, "-fexceptions")
	}
	return f
}

// library is the shared object to be.
func library() clibrary.Library {
	l := clibrary.Library{Name: "recorder", Text: source(), Flags: flags}
	if runtime.GOOS == "darwin" {
		// A program may load Metal late; its functions are interposed before.
		l.Link = []string{"-framework", "Metal"}
	}
	return l
}

// Build compiles the library for this machine, unless it has been before, and
// returns its path, in the user's cache. On Linux it uses the clang that the
// soft driver uses, else cc; on a Mac cc, for both of its architectures.
func Build(ctx context.Context) (string, error) { return library().Build(ctx) }
