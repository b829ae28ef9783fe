package kernel

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every macro of neon_arm64.h makes the word that clang's assembler makes of the
// instruction in the comment above it.
func TestNEONWords(t *testing.T) {
	clang, err := exec.LookPath("clang")
	for _, name := range []string{"clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14"} {
		if err != nil {
			clang, err = exec.LookPath(name)
		}
	}
	if err != nil {
		t.Skip("SKIP: needs clang, whose assembler is the oracle")
	}
	header, err := os.ReadFile("neon_arm64.h")
	if err != nil {
		t.Fatal(err)
	}
	macro := regexp.MustCompile(`(?m)^// ([a-z].*)\n#define ([A-Z0-9]+)\(([a-z, ]+)\) ([A-Z0-9]+)\((.*)\)$`)
	forms := map[string][2]string{} // NEON2 and so on: parameters, expression
	for _, m := range regexp.MustCompile(`(?m)^#define (NEON\w)\((.*)\) WORD \$\((.*)\)$`).FindAllStringSubmatch(string(header), -1) {
		forms[m[1]] = [2]string{m[2], m[3]}
	}
	var source strings.Builder
	var lines []string
	var want []uint32
	defined := 0
	for _, m := range macro.FindAllStringSubmatch(string(header), -1) {
		defined++
		for turn := range 8 {
			values := map[string]int{"i": turn, "m": 2*turn + 1, "n": 31 - 3*turn, "d": 5 + 2*turn}
			if strings.Contains(m[1], ".s[i]") || strings.Contains(m[1], ".4b[i]") {
				values["i"] = turn % 4
			}
			line := m[1]
			for name, v := range values {
				line = regexp.MustCompile(`\b`+name+`\.`).ReplaceAllString(line, fmt.Sprintf("v%d.", v))
				line = strings.ReplaceAll(line, "["+name+"]", fmt.Sprintf("[%d]", v))
				line = strings.ReplaceAll(line, "s:"+name, fmt.Sprintf("s%d", v))
			}
			lines = append(lines, line)
			fmt.Fprintln(&source, line)
			form := forms[m[4]]
			args := strings.Split(m[5], ", ")
			expr := form[1]
			for i, name := range strings.Split(form[0], ", ") {
				arg := args[i]
				if v, ok := values[arg]; ok {
					arg = fmt.Sprint(v)
				}
				expr = regexp.MustCompile(`\b`+name+`\b`).ReplaceAllString(expr, arg)
			}
			v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, expr)
			if err != nil {
				t.Fatalf("%s: %v", expr, err)
			}
			word, _ := constant.Uint64Val(v.Value)
			want = append(want, uint32(word))
		}
	}
	if all := strings.Count(string(header), "#define "); defined != all-len(forms) || defined < 30 {
		t.Fatalf("%d of %d macros have an instruction above them", defined, all-len(forms))
	}
	object := filepath.Join(t.TempDir(), "neon.o")
	cmd := exec.Command(clang, "--target=aarch64-linux-gnu", "-march=armv8.2-a+dotprod", "-c", "-x", "assembler", "-o", object, "-")
	cmd.Stdin = strings.NewReader(source.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		if bytes.Contains(out, []byte("No available targets")) || bytes.Contains(out, []byte("unknown target triple")) {
			t.Skipf("SKIP: needs a clang that assembles for arm64: %s", out)
		}
		t.Fatalf("%v: %s", err, out)
	}
	f, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := f.Section(".text").Data()
	if err != nil || len(text) != 4*len(want) {
		t.Fatalf("%d bytes of code for %d instructions: %v", len(text), len(want), err)
	}
	for i, w := range want {
		if got := binary.LittleEndian.Uint32(text[4*i:]); got != w {
			t.Errorf("%s is %#08x, the macro makes %#08x", lines[i], got, w)
		}
	}
}
