package metal

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/introgen/introgen/engine/transformer"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/callfault"
)

// generate makes a device, a model and two steps, and closes what it has made.
func generate(dev metalshim.Device, m *transformer.Model) (err error) {
	d, err := NewDevice(context.Background(), dev, Options{CommandsPerBuffer: 7})
	if err != nil {
		return err
	}
	defer func() {
		if e := d.Close(); err == nil {
			err = e
		}
	}()
	e, err := d.New(m)
	if err != nil {
		return err
	}
	defer func() {
		if c := e.Close(); err == nil {
			err = c
		}
	}()
	if _, err := e.Step([]int32{1, 2, 3}, 0); err != nil {
		return err
	}
	if _, err := e.Logits(); err != nil {
		return err
	}
	_, err = e.Step([]int32{4}, 3)
	return err
}

// TestEveryCallFails lets each call that may fail do so, at each position of a
// run: one error comes out, and nothing stays on the device.
func TestEveryCallFails(t *testing.T) {
	m := small(t)
	least := map[callfault.Call]int{callfault.Library: 10, callfault.Pipeline: 20, callfault.Alloc: 60, callfault.Commit: 20, callfault.Wait: 8}
	for call, least := range least {
		t.Run(string(call), func(t *testing.T) {
			for n := 1; ; n++ {
				dev := newFake()
				err := generate(callfault.New(callfault.Rules{{Call: call, N: n, Fail: true}}).Wrap(dev), m)
				noneLive(t, dev)
				if err == nil {
					if n <= least {
						t.Errorf("a run makes %d calls of %s, at least %d were expected", n-1, call, least)
					}
					return
				}
				if !errors.Is(err, callfault.ErrInjected) {
					t.Errorf("call %d: error %v is not the one that was injected", n, err)
				}
				if n > 500 {
					t.Fatal("the run does not come to an end")
				}
			}
		})
	}
}

// TestCancelled: a cancelled context ends a build with its error.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	dev := newFake()
	dev.cancelled = ctx
	d, err := NewDevice(ctx, dev, Options{CommandsPerBuffer: 50})
	if err != nil {
		t.Fatal(err)
	}
	why := fmt.Errorf("no more patience")
	cancel(why)
	if _, err := d.New(small(t)); !errors.Is(err, why) {
		t.Errorf("error %v, want the cancellation's", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	noneLive(t, dev)
}
