package soft

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim"
)

// seeing is a kernel that stores 7, or what a source that came by a file, the
// clock or the environment has made of SEEN. FILE stands for a file's path.
func seeing(before, value string) string {
	return "#include <metal_stdlib>\nusing namespace metal;\n" + before +
		"\nkernel void seven(device float* x) { x[0] = " + value + "; }\n"
}

// TestSourceSeesNoFile: whatever way a source goes, it comes by no file. It is
// refused with the place, and no entry is kept, or it compiles to what it does
// where there is no such file.
func TestSourceSeesNoFile(t *testing.T) {
	d := testDevice(t)
	entries := func() int {
		all, err := filepath.Glob(filepath.Join(shared.dir, "library-*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	file := filepath.Join(dir, "seen.h")
	if err := os.WriteFile(file, []byte("#define SEEN 8\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.h")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	// A header that this folder has, and the standard library too.
	if err := os.WriteFile(filepath.Join(dir, "metal_stdlib"), []byte("#define SEEN 8\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const orSeven = "\n#ifndef SEEN\n#define SEEN 7\n#endif\n"
	for _, c := range []struct {
		name, source string
		want         string // of the error; "" where it compiles
	}{
		{"a mark of the byte order", "\ufeff" + seeing("", "7"), ""},
		{"a path", seeing(`#include "FILE"`, "SEEN"), "tiny.metal:3:10: error: 'FILE' file not found"},
		{"a path in angles", seeing(`#include <FILE>`, "SEEN"), "tiny.metal:3:10: error: 'FILE' file not found"},
		{"the folder", seeing(`#include "seen.h"`, "SEEN"), "'seen.h' file not found: a library is one text"},
		{"a link", seeing(`#include "link.h"`, "SEEN"), "'link.h' file not found"},
		{"a path upwards", seeing(`#include "../../../../../../../..FILE"`, "SEEN"), "file not found"},
		{"import", seeing(`#import "FILE"`, "SEEN"), "'FILE' file not found"},
		{"include_next", seeing(`#include_next "FILE"`, "SEEN"), "'FILE' file not found"},
		{"a macro", seeing("#define NAME \"FILE\"\n#include NAME", "SEEN"), "tiny.metal:4:10: error: 'FILE' file not found"},
		{"a directive made of macros", seeing("#define HASH #\nHASH include \"FILE\"", "SEEN"), "tiny.metal:4"},
		{"embed", seeing("float y[] = {\n#embed \"FILE\"\n};", "7"), "tiny.metal:4:8: error: 'FILE' file not found"},
		{"a device", seeing(`#include "/dev/stdin"`, "7"), "'/dev/stdin' file not found"},
		{"the environment", seeing("constexpr char y[] = {\n#embed \"/proc/self/environ\"\n};", "y[0]"), "file not found"},
		{"asm around", seeing(`asm(".incbin \"FILE\"");`, "7"), "asm is no part of the Metal Shading Language"},
		{"asm within", seeing(`inline void f() { asm(".incbin \"FILE\""); }`, "(f(), 7)"), "asm is no part of the Metal Shading Language"},
		{"a module", seeing("#pragma clang module import seen", "7"), "module"},
		{"whether it is there", seeing(`#if __has_include("FILE") || __has_include(<FILE>) || __has_include("seen.h")`+"\n#define SEEN 8\n#endif"+orSeven, "SEEN"), ""},
		{"whether it can be embedded", seeing(`#if __has_embed("FILE")`+"\n#define SEEN 8\n#endif"+orSeven, "SEEN"), ""},
		{"how new it is", seeing("#pragma GCC dependency \"FILE\"\n#ifndef SEEN\n#define SEEN 7\n#endif", "SEEN"), "file not found"},
		{"in the place of a header", seeing("#define NAME \"metal_stdlib\"\n#include NAME"+orSeven, "SEEN"), ""},
		{"a header", seeing("#define NAME <metal_stdlib>\n#include NAME\n#include <simd/simd.h>\n#if __has_include(<metal_stdlib>) && __has_include(<simd/simd.h>)\n#define SEEN 7\n#endif", "SEEN"), ""},
		{"the date", seeing("", "__DATE__[0]"), "tiny.metal:4:45: error: the date and the time cannot be asked for"},
		{"the time", seeing("", "__TIME__[0]"), "the date and the time cannot be asked for"},
		{"the file's time", seeing("", "__TIMESTAMP__[0]"), "the date and the time cannot be asked for"},
		// 7 is what is left of "Jan  1 1970", whose year ends in 0.
		{"the date all the same", seeing("#pragma clang diagnostic ignored \"-Wdate-time\"\nconstexpr char y[] = __DATE__;", "y[10] == '0' && y[0] == 'J' ? 7 : 8"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := strings.ReplaceAll(c.source, "FILE", file)
			want := strings.ReplaceAll(c.want, "FILE", file)
			if want == "" {
				states(t, d, source)
				return
			}
			before := entries()
			_, err := d.NewLibrary(context.Background(), metalshim.Source{Name: "tiny", Text: source})
			var e *metalshim.CompileError
			if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
			if n := entries() - before; n != 0 {
				t.Errorf("%d entries of it are kept", n)
			}
		})
	}
}
