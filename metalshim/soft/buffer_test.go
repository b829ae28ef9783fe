package soft

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim"
	"golang.org/x/sys/unix"
)

func TestMemoryLimit(t *testing.T) {
	testDevice(t)
	d := openAt(t, Options{CacheDir: shared.dir, MemoryLimit: 1000, Workers: 1})
	if got := d.Info().MaxBufferLength; got != 1000 {
		t.Errorf("longest buffer %d, want the limit", got)
	}
	var e *metalshim.AllocationError
	for _, n := range []int{0, -1, 1001} {
		if _, err := d.NewBuffer(n, metalshim.Private); !errors.As(err, &e) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	a, err := d.NewBuffer(600, metalshim.Shared)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.NewBuffer(401, metalshim.Shared); !errors.As(err, &e) || e.Limit != 1000 {
		t.Errorf("above the limit together: %v", err)
	}
	a.Release()
	a.Release()
	b, err := d.NewBuffer(1000, metalshim.Private)
	if err != nil {
		t.Errorf("after the release: %v", err)
	}
	if b.Contents() != nil {
		t.Error("a private buffer shows its memory")
	}
	b.Release()
	if live := d.Live(); live != (metalshim.Counts{}) {
		t.Errorf("live %+v", live)
	}
}

// A buffer of the user's memory is that memory, to the device and after it.
func TestNoCopy(t *testing.T) {
	d := testDevice(t)
	memory := bytes.Repeat([]byte{7}, 64)
	b, err := d.NewBufferNoCopy(memory)
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	c, err := q.NewCommandBuffer()
	if err != nil {
		t.Fatal(err)
	}
	blit, err := c.NewBlit()
	if err != nil {
		t.Fatal(err)
	}
	blit.Fill(b, 1, 2, 9)
	if err := errors.Join(blit.EndEncoding(), c.Commit(), c.Wait(context.Background())); err != nil {
		t.Error(err)
	}
	if &b.Contents()[0] != &memory[0] || !bytes.Equal(memory[:4], []byte{7, 9, 9, 7}) {
		t.Errorf("the memory begins with % x", memory[:4])
	}
	c.Release()
	q.Release()
	b.Release()
	if memory[63] != 7 {
		t.Error("the memory went with the buffer")
	}
	var e *metalshim.AllocationError
	if _, err := d.NewBufferNoCopy(nil); !errors.As(err, &e) {
		t.Errorf("no memory: %v", err)
	}
}

// A command buffer keeps what it needs, in the order of commits, whatever the
// user releases meanwhile.
func TestReleaseInFlight(t *testing.T) {
	testDevice(t)
	d := openAt(t, Options{CacheDir: shared.dir, Workers: 2})
	q, err := d.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	src, err := d.NewBufferWithBytes(bytes.Repeat([]byte{5}, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	dst, err := d.NewBuffer(1<<20, metalshim.Shared)
	if err != nil {
		t.Fatal(err)
	}
	var last metalshim.CommandBuffer
	order := make(chan int, 100)
	for i := range 100 {
		cb, err := q.NewCommandBuffer()
		if err != nil {
			t.Fatal(err)
		}
		b, err := cb.NewBlit()
		if err != nil {
			t.Fatal(err)
		}
		tmp, err := d.NewBuffer(1<<20, metalshim.Private)
		if err != nil {
			t.Fatal(err)
		}
		b.Copy(tmp, 0, src, 0, 1<<20)
		b.Copy(dst, 0, tmp, 0, 1<<20)
		b.Fill(dst, 17, 1, byte(i))
		if err := b.EndEncoding(); err != nil {
			t.Fatal(err)
		}
		tmp.Release()
		cb.OnCompleted(func(metalshim.CommandBuffer) { order <- i })
		if err := cb.Commit(); err != nil {
			t.Fatal(err)
		}
		if last != nil {
			last.Release()
		}
		last = cb
	}
	src.Release()
	if err := last.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if got := <-order; got != i {
			t.Fatalf("command buffer %d completed as number %d", got, i)
		}
	}
	want := bytes.Repeat([]byte{5}, 1<<20)
	want[17] = 99
	if !bytes.Equal(dst.Contents(), want) {
		t.Error("the copy differs")
	}
	times := last.Times()
	if times.Committed.IsZero() || times.Scheduled.Before(times.Committed) || times.GPUStart.Before(times.Scheduled) || !times.GPUEnd.After(times.GPUStart) {
		t.Errorf("times %+v are out of order", times)
	}
	last.Release()
	dst.Release()
	q.Release()
	if live := d.Live(); live != (metalshim.Counts{}) {
		t.Errorf("live %+v", live)
	}
}

// A command buffer that is never committed lets go of what it holds.
func TestNeverCommitted(t *testing.T) {
	testDevice(t)
	d := openAt(t, Options{CacheDir: shared.dir, Workers: 1, MemoryLimit: 1 << 20})
	q, err := d.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	defer q.Release()
	for range 3 {
		b, err := d.NewBuffer(1<<20, metalshim.Private)
		if err != nil {
			t.Fatal(err)
		}
		cb, err := q.NewCommandBuffer()
		if err != nil {
			t.Fatal(err)
		}
		blit, err := cb.NewBlit()
		if err != nil {
			t.Fatal(err)
		}
		blit.Fill(b, 0, 10, 1)
		b.Release()
		if err := cb.Commit(); err == nil {
			t.Error("commit while an encoder is open")
		}
		if err := cb.Wait(context.Background()); err == nil {
			t.Error("wait before commit")
		}
		if err := blit.EndEncoding(); err != nil {
			t.Error(err)
		}
		cb.Release()
	}
}

func TestUseAfterClose(t *testing.T) {
	testDevice(t)
	d := openAt(t, Options{CacheDir: shared.dir, Workers: 1})
	q, err := d.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := q.NewCommandBuffer(); !errors.Is(err, metalshim.ErrReleased) {
		t.Errorf("command buffer of a closed device: %v", err)
	}
	if _, err := d.NewQueue(); !errors.Is(err, metalshim.ErrReleased) {
		t.Errorf("queue of a closed device: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

// shrunk is a map of a file of so many bytes that has none any more.
func shrunk(t *testing.T, size int) []byte {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "weights"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(int64(size)); err != nil {
		t.Fatal(err)
	}
	b, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(b) })
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestMapThatShrank: kernels and copies that read memory which is no longer there
// fail their command buffer, say where, and leave the device as it was.
func TestMapThatShrank(t *testing.T) {
	d := testDevice(t)
	lost, err := d.NewBufferNoCopy(shrunk(t, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer lost.Release()
	whole, err := d.NewBuffer(1<<20, metalshim.Shared)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Release()
	p := pipe(t, compile(t, d, "basics", basics), "sums")
	kernel := func(b metalshim.Buffer, offset int) error {
		return run(t, d, func(e metalshim.Encoder) error {
			e.SetPipeline(p)
			e.SetBuffer(0, b, offset)
			return e.DispatchThreads(one(64*32), one(64))
		})
	}
	blit := func(b metalshim.Buffer, offset int) error {
		q, err := d.NewQueue()
		if err != nil {
			return err
		}
		defer q.Release()
		c, err := q.NewCommandBuffer()
		if err != nil {
			return err
		}
		defer c.Release()
		e, err := c.NewBlit()
		if err != nil {
			return err
		}
		e.Copy(whole, 0, b, offset, 1<<16)
		return errors.Join(e.EndEncoding(), c.Commit(), c.Wait(t.Context()))
	}
	for name, f := range map[string]func(metalshim.Buffer, int) error{"kernel": kernel, "blit": blit} {
		for range 3 {
			var e *metalshim.CommandError
			err := f(lost, 1<<19)
			if !errors.As(err, &e) || !errors.Is(err, metalshim.ErrPageFault) || !strings.Contains(err.Error(), "memory that cannot be read any more, in a buffer of 1048576 bytes") {
				t.Errorf("%s: %v", name, err)
			}
			if err := f(whole, 1<<19); err != nil {
				t.Errorf("%s of memory that is there, afterwards: %v", name, err)
			}
		}
	}
}

// TestNoBufferOfAFileThatShrank copies from a map of a file that has shrunk: the
// panic passes, since it is the caller's to catch, and no buffer stays behind.
func TestNoBufferOfAFileThatShrank(t *testing.T) {
	b := shrunk(t, 1<<20)
	testDevice(t)
	d := openAt(t, Options{CacheDir: shared.dir, Workers: 1})
	before := d.Live()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the file that is no longer there was read")
			}
		}()
		d.NewBufferWithBytes(b)
	}()
	if live := d.Live(); live != before {
		t.Errorf("left behind: %+v, before: %+v", live, before)
	}
}
