package metal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/callfault"
	"github.com/introgen/introgen/trace"
)

// TestFaultAtEveryPosition lets the first, second, … call of each kind fail
// until a whole run meets no such call any more: device, model, prefill and two
// steps. Each failure is one error with its cause, keeps what was recorded
// before it, and leaves nothing on the device.
func TestFaultAtEveryPosition(t *testing.T) {
	m := small(t)
	least := map[callfault.Call]int{callfault.Library: 10, callfault.Pipeline: 15, callfault.Alloc: 60, callfault.Commit: 20, callfault.Wait: 5}
	for call, want := range least {
		t.Run(string(call), func(t *testing.T) {
			for n := 1; ; n++ {
				dev, rec := newFake(), trace.New()
				err := faultyRun(callfault.New(callfault.Rules{{Call: call, N: n, Fail: true}}).Wrap(dev), rec, func(d *Device) error {
					e, err := d.New(m)
					if err != nil {
						return err
					}
					for _, p := range []struct {
						ids []int32
						pos int
					}{{[]int32{1, 2, 3}, 0}, {[]int32{4}, 3}, {[]int32{5}, 4}} {
						if _, err = e.Step(p.ids, p.pos); err != nil {
							break
						}
					}
					return errors.Join(err, e.Close())
				})
				noneLive(t, dev)
				if rec.Current() != 0 {
					t.Errorf("%s %d: a span was left open", call, n)
				}
				if err == nil {
					if n <= want {
						t.Errorf("a run makes %d calls of the kind %s; at least %d are expected", n-1, call, want)
					}
					return
				}
				if !errors.Is(err, callfault.ErrInjected) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s %d: error %q, want one line with the injected cause", call, n, err)
				}
				if n > 10_000 {
					t.Fatalf("%s: no end of calls", call)
				}
			}
		})
	}
}

// faultyRun opens a device of the engine on dev, timed, and closes it after f.
func faultyRun(dev metalshim.Device, rec *trace.Recorder, f func(*Device) error) error {
	shim, err := metalshim.Instrument(dev, metalshim.InstrumentOptions{Recorder: rec})
	if err != nil {
		return err
	}
	d, err := NewDevice(context.Background(), shim, Options{CommandsPerBuffer: 7})
	if err != nil {
		return err
	}
	if err := f(d); err != nil {
		if closing := d.Close(); closing != nil {
			return fmt.Errorf("%w; closing: %w", err, closing)
		}
		return err
	}
	return d.Close()
}
