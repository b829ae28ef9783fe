package suite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/introgen/introgen/kernel/array"
	"github.com/introgen/introgen/metalshim"
)

// Result is what became of a test.
type Result struct {
	Name    string  `json:"name"` // with its file
	Passed  bool    `json:"passed"`
	Why     string  `json:"why,omitempty"` // not
	Seconds float64 `json:"seconds"`
}

// Run runs the tests of the file whose full names want takes, and says what became
// of each. An error is that of ctx.
func (f *File) Run(ctx context.Context, d metalshim.Device, want func(name string) bool, say func(Result) error) error {
	for i := range f.Tests {
		t := &f.Tests[i]
		if !want(t.Full()) {
			continue
		}
		began := time.Now()
		err := t.run(ctx, d)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r := Result{Name: t.Full(), Passed: err == nil, Seconds: time.Since(began).Seconds()}
		if err != nil {
			r.Why = err.Error()
		}
		if err := say(r); err != nil {
			return err
		}
	}
	return nil
}

func (t *Test) run(ctx context.Context, d metalshim.Device) error {
	s, l, err := t.open()
	if err != nil {
		return err
	}
	expected := values(t.Expect)
	wanted := make([]*array.Array, len(expected))
	for i, v := range expected { // before anything is compiled
		if wanted[i], err = t.wanted(v); err != nil {
			return err
		}
	}
	p, err := s.Prepare(ctx, d, l)
	if err != nil {
		return err
	}
	defer p.Close()
	if _, err := p.Run(ctx, 1); err != nil {
		return err
	}
	var failed []string
	for i, v := range expected {
		got, err := p.Result(v.Of)
		if err != nil {
			return fmt.Errorf("expect %s: it is none of the buffers that are given", v.Of)
		}
		difference, err := array.Compare(wanted[i], got, array.Tolerance{Absolute: t.Absolute, Relative: t.Relative, ULP: t.ULP})
		if err == nil && difference != nil {
			err = errors.New(difference.String())
		}
		if err != nil {
			failed = append(failed, fmt.Sprintf("%s: %v", v.Of, err))
		}
	}
	if len(failed) > 0 {
		return errors.New(strings.Join(failed, "; "))
	}
	return nil
}
