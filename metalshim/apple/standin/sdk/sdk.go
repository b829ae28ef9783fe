// Package sdk writes what a program needs to use Metal where no Mac is: the
// library that stands for Objective-C's runtime, Foundation and Metal, under the
// names by which programs look for them, headers for C, and what Cargo is told.
package sdk

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/system/files"
)

//go:generate go run ./gen include/Metal/Metal.h

//go:embed include
var headers embed.FS

//go:embed cargo/metal-crate
var metalCrate []byte

// Names are those by which the library is found too, by linkers and by loaders.
var Names = []string{
	"libobjc.so", "libobjc.so.4", "libgnustep-base.so", "libgnustep-base.so.1.28", "libdispatch.so", "libBlocksRuntime.so",
	"libMetal.so", "libFoundation.so",
}

// Write makes the folder dir, or brings it up to date: lib, include, cargo, and a
// link to program, the introgen that the library starts as the device.
func Write(ctx context.Context, dir, program string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	built, err := standin.BuildLibrary(ctx)
	if err != nil {
		return err
	}
	for _, sub := range []string{"lib", "bin", "cargo"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o777); err != nil {
			return err
		}
	}
	library, err := os.ReadFile(built)
	if err != nil {
		return err
	}
	if err := files.Write(filepath.Join(dir, "lib", standin.LibraryName), library, files.Options{Mode: 0o755, Unsynced: true}); err != nil {
		return err
	}
	for _, name := range Names {
		if err := link(standin.LibraryName, filepath.Join(dir, "lib", name)); err != nil {
			return err
		}
	}
	if err := link(program, filepath.Join(dir, "bin", "introgen")); err != nil {
		return err
	}
	if err := writeHeaders(dir); err != nil {
		return err
	}
	if err := files.Write(filepath.Join(dir, "cargo", "metal-crate"), metalCrate, files.Options{Mode: 0o755, Unsynced: true}); err != nil {
		return err
	}
	return files.Write(filepath.Join(dir, "cargo", "config.toml"), []byte(cargoConfig(filepath.Join(dir, "lib"))), files.Options{Unsynced: true})
}

// link makes a symbolic link, in the place of another if there is one.
func link(to, at string) error {
	if old, err := os.Readlink(at); err == nil && old == to {
		return nil
	}
	made := at + ".new" + strconv.Itoa(os.Getpid())
	if err := os.Symlink(to, made); err != nil {
		return err
	}
	if err := os.Rename(made, at); err != nil {
		os.Remove(made)
		return err
	}
	return nil
}

func writeHeaders(dir string) error {
	return fs.WalkDir(headers, "include", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := filepath.Join(dir, filepath.FromSlash(path))
		if e.IsDir() {
			return os.MkdirAll(at, 0o777)
		}
		text, err := headers.ReadFile(path)
		if err != nil {
			return err
		}
		return files.Write(at, text, files.Options{Unsynced: true})
	})
}

// cargoConfig tells Cargo where the library is, when a program is linked and when
// it runs.
func cargoConfig(lib string) string {
	var b strings.Builder
	b.WriteString("# Written by introgen sdk. Use it by `cargo build --config THIS_FILE`, or copy what\n" +
		"# it has to the .cargo/config.toml of your crate.\n" +
		"#\n" +
		"# objc2 and block2 want their feature gnustep-2-1. objc2-metal, as metal-rs, asks\n" +
		"# for a framework, which there is on Apple's systems only, and rustc says E0455:\n" +
		"# metal-crate, beside this file, makes copies without that line, and settings that\n" +
		"# name them besides what stands here.\n")
	for _, arch := range []string{"x86_64", "aarch64"} {
		fmt.Fprintf(&b, "\n[target.%s-unknown-linux-gnu]\nrustflags = [\"-L\", %s, \"-C\", %s]\n", arch,
			strconv.Quote("native="+lib), strconv.Quote("link-arg=-Wl,-rpath,"+lib))
	}
	return b.String()
}
