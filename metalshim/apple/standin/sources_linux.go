//go:build linux && (amd64 || arm64)

package standin

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed c
var sources embed.FS

// order is that of the files in the one translation unit that they form.
var order = []string{
	"libc.h", "standin.h", "prototypes.h",
	"runtime.c", "introspection.c", "messages.c", "memory.c", "pools.c", "trampolines.c", "reply.c",
	"foundation.c", "values.c", "blocks.c",
	"device.c", "library.c", "pipeline.c", "resources.c", "commands.c", "encoders.c", "compilers.c", "dispatch.c", "classes.c", "gnustep.c",
}

// beside are those that a program's library has behind them: its device is in
// another process.
var beside = []string{"linux.h", "spawn.c", "wire.c", "remote.c", "remote_commands.c", "connect.c"}

// source is the text that is compiled for tests, and programSource that for
// programs. Messages of the compiler name the files.
func source() string { return join(order) }

func programSource() string { return join(slices.Concat(order, beside)) }

func join(files []string) string {
	var b strings.Builder
	for _, name := range files {
		text, err := sources.ReadFile("c/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		fmt.Fprintf(&b, "# 1 %q\n%s", name, text)
	}
	return b.String()
}

// flags are for clang and gcc. The sources need no header. A body without a
// prototype is one of a method that Apple does not have.
func flags(arch string) []string {
	f := []string{"-x", "c", "-std=c11", "-nostdinc", "-O1", "-fPIC", "-fvisibility=hidden", "-fno-omit-frame-pointer",
		"-Werror=missing-prototypes", "-Werror=incompatible-pointer-types", "-Werror=int-conversion"}
	if arch == "arm64" {
		f = append(f, "-mno-outline-atomics")
	}
	return f
}

// programFlags are added for the library of programs.
var programFlags = []string{"-DINTROGEN_SDK", "-O2"}
