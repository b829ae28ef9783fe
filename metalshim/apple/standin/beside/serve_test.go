//go:build linux && (amd64 || arm64)

package beside

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/shimtest"
	"github.com/introgen/introgen/metalshim/soft"
	"github.com/introgen/introgen/metalshim/soft/clang"
)

// serving is a server over a device, and the program's end of its socket.
func serving(t testing.TB, d metalshim.Device) (program int, over chan error) {
	t.Helper()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	over = make(chan error, 1)
	go func() {
		err := Serve(context.Background(), ends[1], d, Facts{AppleFamily: 7})
		unix.Close(ends[1])
		over <- err
	}()
	return ends[0], over
}

// put sends a message.
func put(t testing.TB, program int, kind, number uint64, body ...uint64) {
	t.Helper()
	l := newLetter(kind, number)
	for _, w := range body {
		l = l.word(w)
	}
	if _, err := unix.Write(program, l.whole()); err != nil {
		t.Fatal(err)
	}
}

// got reads a message.
func got(t testing.TB, program int) (kind, number uint64, c *content) {
	t.Helper()
	head := make([]byte, headBytes)
	if n, _, err := unix.Recvfrom(program, head, unix.MSG_WAITALL); err != nil || n != headBytes {
		t.Fatalf("%d bytes, %v", n, err)
	}
	body := make([]byte, binary.LittleEndian.Uint64(head[16:]))
	if len(body) > 0 {
		if n, _, err := unix.Recvfrom(program, body, unix.MSG_WAITALL); err != nil || n != len(body) {
			t.Fatalf("%d of %d bytes, %v", n, len(body), err)
		}
	}
	return binary.LittleEndian.Uint64(head), binary.LittleEndian.Uint64(head[8:]), &content{b: body}
}

// What the device says of itself, a queue, a command buffer that runs, one that
// refers to what is not there, and the end.
func TestServe(t *testing.T) {
	d := &shimtest.Device{}
	program, over := serving(t, d)
	kind, number, c := got(t, program)
	if v := c.word(); v != version {
		t.Errorf("version %d", v)
	}
	if why, name := c.text(), c.text(); kind != hello || number != 0 || why != "" || name != "test" || c.err != nil {
		t.Errorf("kind %d, number %d, %q, %q, %v", kind, number, why, name, c.err)
	}
	put(t, program, queue, 7)
	for _, body := range [][]uint64{{7, newEncoder, 11}, {7, newEncoder, 0, 999}, {7, 11}} { // 11 is the end of an encoder, 0 a pipeline
		put(t, program, commit, 8, body...)
		good := len(body) == 3
		if good {
			put(t, program, status, 10, 8) // this device works when it is asked
		}
		kind, number, c := got(t, program)
		status := metalshim.Status(c.word())
		c.bytes(5 * 8)
		domain, text := c.text(), c.text()
		if kind != completed || number != 8 || (status == metalshim.Completed) != good || (text == "") != good || (domain == "") != good || c.err != nil {
			t.Errorf("%v: kind %d, number %d, status %v, %q %q, %v", body, kind, number, status, domain, text, c.err)
		}
		if good {
			got(t, program)
		}
	}
	put(t, program, status, 9, 12345)
	if kind, number, c := got(t, program); kind != answer || number != 9 || metalshim.Status(c.word()) != metalshim.Completed {
		t.Errorf("kind %d, number %d", kind, number)
	}
	put(t, program, release, 0, 7)
	unix.Close(program)
	if err := <-over; err != nil {
		t.Error(err)
	}
	if n := d.Live().CommandBuffers; n != 0 {
		t.Errorf("%d command buffers are alive", n)
	}
}

// FuzzServe: no message of a program breaks the device.
func FuzzServe(f *testing.F) {
	d, err := soft.Open(f.Context(), soft.Options{Workers: 1, CacheDir: f.TempDir()})
	var absent *clang.Error
	if errors.As(err, &absent) {
		f.Skipf("SKIP: needs clang 19: %v", err)
	}
	if err != nil {
		f.Fatal(err)
	}
	words := func(w ...uint64) (b []byte) {
		for _, v := range w {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		return b
	}
	f.Add(words(queue, 1, 0, commit, 2, 24, 1, newEncoder, 11))
	f.Add(words(compile, 1, 40, 2, 0, 0, 0, 0, pipeline, 2, 24, 1, 0, 0))
	f.Add(words(compile, 1, 40, 2, 0, 0, 1<<40, 0))
	f.Add(words(pipeline, 1, 24, 1, 1<<60, 1<<60))
	f.Add(words(buffer, 1, 32, 4096, 0, 0, 0, release, 0, 8, 1))
	f.Add(words(queue, 1, 0, commit, 2, 64, 1, newEncoder|2<<8, 9, 1, 2, 3, 4, 5))
	f.Add(words(queue, 1, 0, queue, 1, 0))
	f.Add(words(99, 1, 0))
	f.Add(words(status, 1, 1<<62))
	f.Fuzz(func(t *testing.T, b []byte) {
		program, over := serving(t, d)
		// A reader, since a server that has to write waits for one.
		read := make(chan bool)
		go func() {
			defer close(read)
			b := make([]byte, 1<<16)
			for {
				if n, err := unix.Read(program, b); n <= 0 || err != nil {
					return
				}
			}
		}()
		_ = unix.SetsockoptTimeval(program, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{Sec: 1})
		_, _ = unix.SendmsgN(program, b, nil, nil, unix.MSG_NOSIGNAL) // it may have given up
		_ = unix.Shutdown(program, unix.SHUT_WR)
		select {
		case <-over:
		case <-time.After(10 * time.Second):
			t.Fatal("it hangs")
		}
		<-read
		unix.Close(program)
	})
}
