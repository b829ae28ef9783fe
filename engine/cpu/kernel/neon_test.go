package kernel

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Of every macro of neon_arm64.h, Go's assembler makes the word that clang's
// assembler makes of the instruction in the comment above it.
func TestNEONWords(t *testing.T) {
	header, err := os.ReadFile("neon_arm64.h")
	if err != nil {
		t.Fatal(err)
	}
	var ours, theirs []string
	macros := regexp.MustCompile(`(?m)^// ([a-z].*)\n#define ([A-Z0-9]+)\(([a-z, ]+)\) NEON`).FindAllStringSubmatch(string(header), -1)
	for _, m := range macros {
		instruction, name, params := m[1], m[2], m[3]
		lanes := 8
		if strings.Contains(instruction, ".s[i]") || strings.Contains(instruction, ".4b[i]") {
			lanes = 4
		}
		for turn := range 8 {
			values := map[string]int{"i": turn % lanes, "m": 2*turn + 1, "n": 31 - 3*turn, "d": 5 + 2*turn}
			line, args := instruction, params
			for param, v := range values {
				line = regexp.MustCompile(`\b`+param+`\.`).ReplaceAllString(line, fmt.Sprintf("v%d.", v))
				line = strings.NewReplacer("["+param+"]", fmt.Sprintf("[%d]", v), "s:"+param, fmt.Sprintf("s%d", v)).Replace(line)
				args = regexp.MustCompile(`\b`+param+`\b`).ReplaceAllString(args, fmt.Sprint(v))
			}
			theirs = append(theirs, line)
			ours = append(ours, fmt.Sprintf("%s(%s)", name, args))
		}
	}
	if all := len(regexp.MustCompile(`(?m)^#define \w+\(.*\) NEON`).FindAll(header, -1)); len(macros) != all || all < 30 {
		t.Fatalf("%d of %d macros have an instruction above them", len(macros), all)
	}
	want := clangWords(t, theirs)
	got := goWords(t, ours)
	if len(got) < len(want) {
		t.Fatalf("%d words for %d instructions", len(got), len(want))
	}
	for i, w := range want {
		if got[i] != w {
			t.Errorf("%s is %#08x, %s makes %#08x", theirs[i], w, ours[i], got[i])
		}
	}
}

// clangWords assembles arm64 instructions with clang.
func clangWords(t *testing.T, lines []string) []uint32 {
	t.Helper()
	clang, err := exec.LookPath("clang")
	for v := 25; v >= 14 && err != nil; v-- {
		clang, err = exec.LookPath(fmt.Sprint("clang-", v))
	}
	if err != nil {
		t.Skip("SKIP: needs clang, whose assembler is the oracle")
	}
	object := filepath.Join(t.TempDir(), "neon.o")
	cmd := exec.Command(clang, "--target=aarch64-linux-gnu", "-march=armv8.2-a+dotprod", "-c", "-x", "assembler", "-o", object, "-")
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "No available targets") || strings.Contains(string(out), "unknown target triple") {
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
	if err != nil || len(text) != 4*len(lines) {
		t.Fatalf("%d bytes of code for %d instructions: %v", len(text), len(lines), err)
	}
	return words(text)
}

// goWords assembles macros with Go's assembler, which prints what it makes.
func goWords(t *testing.T, lines []string) []uint32 {
	t.Helper()
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("SKIP: needs the go command, to assemble with")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "words.s")
	text := "#include \"neon_arm64.h\"\nTEXT ·words(SB), 4, $0\n\t" + strings.Join(lines, "\n\t") + "\n\tRET\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(goTool, "tool", "asm", "-p", "words", "-I", here, "-S", "-o", filepath.Join(dir, "words.o"), source)
	cmd.Env = append(os.Environ(), "GOARCH=arm64", "GOOS=linux")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var code []byte
	for _, m := range regexp.MustCompile(`(?m)^\t0x[0-9a-f]+((?: [0-9a-f]{2}){4,16}) `).FindAllStringSubmatch(string(out), -1) {
		b, err := hex.DecodeString(strings.ReplaceAll(m[1], " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		code = append(code, b...)
	}
	return words(code)
}

func words(code []byte) []uint32 {
	var w []uint32
	for ; len(code) >= 4; code = code[4:] {
		w = append(w, binary.LittleEndian.Uint32(code))
	}
	return w
}
