//go:build linux && (amd64 || arm64)

package standin_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple"
	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/metalshim/callfault"
	"github.com/introgen/introgen/metalshim/soft"
)

// What is injected behind the stand-in comes out of the driver as its kind of
// error, with the reason, and nothing is left of the attempt.
func TestInjected(t *testing.T) {
	for plan, want := range map[string]func(error) bool{
		"lib=program_source,fail": func(err error) bool { var e *metalshim.CompileError; return errors.As(err, &e) && e.Library == "Add" },
		"pipe=add,fail":           func(err error) bool { var e *metalshim.CompileError; return errors.As(err, &e) && e.Function == "add" },
		"alloc,n=1,fail":          func(err error) bool { return errors.Is(err, metalshim.ErrOutOfMemory) },
		"alloc,n=2,fail":          func(err error) bool { return errors.Is(err, metalshim.ErrOutOfMemory) },
		"commit,fail":             func(err error) bool { var e *metalshim.CommandError; return errors.As(err, &e) },
		"wait,fail":               func(err error) bool { var e *metalshim.CommandError; return errors.As(err, &e) },
		"wait,delay=1ms":          func(err error) bool { return err == nil },
	} {
		t.Run(plan, func(t *testing.T) {
			rules, err := callfault.Parse(plan)
			if err != nil {
				t.Fatal(err)
			}
			d := driven(t, callfault.New(rules).Wrap(opened(t, soft.Options{})), standin.Options{}, apple.Options{})
			err = addOnce(t, d, addSource, 2)
			injected := strings.Contains(plan, "fail") && !strings.Contains(plan, "alloc") // whose NSError does not exist
			if !want(err) || injected && !strings.Contains(err.Error(), callfault.ErrInjected.Error()) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A kernel that leaves its buffer, or does not end, fails its command buffer
// with the code that Metal has for it.
func TestKernelFaults(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		kind error
	}{
		"page fault": {"a[1 << 28] = b[0] + n;", metalshim.ErrPageFault},
		"time limit": {"while (a[0] < 1e30f) { a[1] += 1; if (a[1] > 5) a[1] = 0; }", metalshim.ErrTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			d := driven(t, opened(t, soft.Options{KernelLimit: 200 * time.Millisecond}), standin.Options{}, apple.Options{})
			source := strings.Replace(addSource, "if (i < n) a[i] += b[i];", c.body, 1)
			var e *metalshim.CommandError
			if err := addOnce(t, d, source, 2); !errors.As(err, &e) || !errors.Is(err, c.kind) {
				t.Errorf("%v", err)
			}
		})
	}
}

// addOnce goes from source to result, and returns the first error.
func addOnce(t *testing.T, d metalshim.Device, source string, n int) error {
	var made []interface{ Release() }
	defer func() {
		for _, o := range made {
			o.Release()
		}
	}()
	l, err := d.NewLibrary(t.Context(), metalshim.Source{Name: "Add", Text: source})
	if err != nil {
		return err
	}
	made = append(made, l)
	p, err := l.NewPipeline(t.Context(), "add", nil)
	if err != nil {
		return err
	}
	made = append(made, p)
	a, err := d.NewBuffer(4*n, metalshim.Shared)
	if err != nil {
		return err
	}
	made = append(made, a)
	b, err := d.NewBufferWithBytes(make([]byte, 4*n))
	if err != nil {
		return err
	}
	made = append(made, b)
	q := must(d.NewQueue())(t)
	defer q.Release()
	c := must(q.NewCommandBuffer())(t)
	made = append(made, c)
	e := must(c.NewEncoder(metalshim.Serial))(t)
	e.SetPipeline(p)
	e.SetBuffer(0, a, 0)
	e.SetBuffer(1, b, 0)
	e.SetBytes(2, []byte{byte(n), 0, 0, 0})
	grid := metalshim.Size{X: n, Y: 1, Z: 1}
	if err := errors.Join(e.DispatchThreads(grid, grid), e.EndEncoding(), c.Commit()); err != nil {
		return err
	}
	return c.Wait(t.Context())
}
