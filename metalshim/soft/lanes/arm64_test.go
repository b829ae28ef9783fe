package lanes

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// TestSameOnArm64 runs openKernel as arm64 processors would, under qemu's user
// emulation: one without arithmetic on half, and one that has every extension
// that qemu and clang know.
func TestSameOnArm64(t *testing.T) {
	testClang(t)
	const sysroot = "/usr/aarch64-linux-gnu"
	qemu, err := exec.LookPath("qemu-aarch64")
	if err != nil {
		qemu, err = exec.LookPath("qemu-aarch64-static")
	}
	gcc, _ := filepath.Glob("/usr/lib/gcc-cross/aarch64-linux-gnu/*")
	if _, absent := os.Stat(filepath.Join(sysroot, "lib", "libc.a")); len(gcc) == 0 || runtime.GOARCH == "arm64" || err != nil || absent != nil || !targetKnown(t, "aarch64-linux-gnu") {
		t.Skip("SKIP: needs qemu-aarch64 and a C library for arm64 (Debian's libc6-dev-arm64-cross and libgcc-12-dev-arm64-cross) on another processor")
	}
	in, want := openData()
	dir := t.TempDir()
	runner := filepath.Join(dir, "runner.o")
	target := []string{"--target=aarch64-linux-gnu", "--sysroot=" + sysroot, "--gcc-install-dir=" + gcc[len(gcc)-1], "-isystem", filepath.Join(sysroot, "include")}
	clangRun(t, "", append(target, "-O1", "-c", "testdata/runner.c", "-o", runner)...)
	for _, mcpu := range []string{"generic", "neoverse-v2"} {
		for _, o := range []Options{{Scalar: true}, {}} {
			t.Run(fmt.Sprintf("%s/%+v", mcpu, o), func(t *testing.T) {
				out, err := Transform(oneLaneFor(t, openKernel, "--target=aarch64-linux-gnu", "-mcpu="+mcpu), o)
				if err != nil {
					t.Fatal(err)
				}
				dir := t.TempDir()
				ll, exe := filepath.Join(dir, "k.ll"), filepath.Join(dir, "k.arm64")
				if err := os.WriteFile(ll, []byte(out), 0o600); err != nil {
					t.Fatal(err)
				}
				args := append(target, "-mcpu="+mcpu, "-static", "-fuse-ld=lld")
				args = append(args, slices.DeleteFunc(slices.Clone(Flags), func(f string) bool { return f == "-x" || f == "ir" || f == "-fPIC" })...)
				clangRun(t, "", append(args, "-x", "ir", ll, "-x", "none", runner, "-lm", "-o", exe)...)
				run := filepath.Join(dir, "run")
				if err := os.WriteFile(run, []byte("#!/bin/sh\nexec "+qemu+" "+exe+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
				checkOpen(t, program(run), in, want)
			})
		}
	}
}
