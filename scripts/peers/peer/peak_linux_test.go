package peer

import (
	"context"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A program's peak is its own, also where the program that started it had more: a shell
// that holds a text of 32 MiB has more than that, and less than what was taken before.
func TestPeakIsTheProcesssOwn(t *testing.T) {
	const much = 512 << 20
	b, err := unix.Mmap(-1, 0, much, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	if err := unix.Munmap(b); err != nil {
		t.Fatal(err)
	}
	_, peak, err := Capture(context.Background(), time.Minute, []string{"sh", "-c", `x=$(head -c 33554432 /dev/zero | tr '\0' a); echo ${#x}`}, nil)
	if err != nil || peak < 32 || peak > much/2/(1<<20) {
		t.Errorf("sh took %v MiB, %v; it holds 32 MiB", peak, err)
	}
}
