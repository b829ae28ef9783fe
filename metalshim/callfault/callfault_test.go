package callfault_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/callfault"
	"github.com/introgen/introgen/metalshim/shimtest"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want callfault.Rules
	}{
		{"lib=Reduce,delay=2s", callfault.Rules{{Call: callfault.Library, Name: "Reduce", Delay: 2 * time.Second}}},
		{"alloc,n=3,fail", callfault.Rules{{Call: callfault.Alloc, N: 3, Fail: true}}},
		{"pipe=silu_f32,fail;wait,n=2,delay=5ms,fail", callfault.Rules{
			{Call: callfault.Pipeline, Name: "silu_f32", Fail: true}, {Call: callfault.Wait, N: 2, Delay: 5 * time.Millisecond, Fail: true}}},
	} {
		got, err := callfault.Parse(c.text)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %+v, %v", c.text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                "unknown call",
		"lib":             "neither delay nor fail",
		"lib=,fail":       "without a name",
		"alloc=x,fail":    "takes no name",
		"lib,n=0,fail":    "no number from 1",
		"lib,delay=2":     "no duration",
		"lib,delay=-1s":   "no duration",
		"lib,fail=yes":    "unknown part",
		"library,fail":    "unknown call",
		"lib,fail;":       "unknown call",
		"wait,slow,fail":  "unknown part",
		"commit,n=x,fail": "no number from 1",
	} {
		if _, err := callfault.Parse(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "lib=Reduce,delay=2s") {
			t.Errorf("%q: error %v, want %q and an example", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("lib=Reduce,delay=2s;alloc,n=3,fail")
	f.Fuzz(func(t *testing.T, text string) {
		plan, err := callfault.Parse(text)
		if err == nil && len(plan) == 0 {
			t.Error("an empty plan without an error")
		}
	})
}

// use makes two of everything and returns the first error of each kind of
// call together with the number of the call.
func use(ctx context.Context, d metalshim.Device) map[callfault.Call][2]error {
	got := map[callfault.Call][2]error{}
	set := func(c callfault.Call, i int, err error) {
		e := got[c]
		e[i] = err
		got[c] = e
	}
	q, _ := d.NewQueue()
	defer q.Release()
	for i, name := range []string{"One", "Two"} {
		l, err := d.NewLibrary(ctx, metalshim.Source{Name: name})
		set(callfault.Library, i, err)
		if err == nil {
			p, err := l.NewPipeline(ctx, "f"+name, nil)
			set(callfault.Pipeline, i, err)
			if err == nil {
				p.Release()
			}
			l.Release()
		}
		alloc := func() (metalshim.Buffer, error) { return d.NewBuffer(4, metalshim.Private) }
		if i == 1 {
			alloc = func() (metalshim.Buffer, error) { return d.NewBufferWithBytes([]byte{1}) }
		}
		b, err := alloc()
		set(callfault.Alloc, i, err)
		if err == nil {
			b.Release()
		}
		cb, _ := q.NewCommandBuffer()
		err = cb.Commit()
		set(callfault.Commit, i, err)
		if err == nil {
			set(callfault.Wait, i, cb.Wait(ctx))
			if e := cb.Err(); (e != nil) != (got[callfault.Wait][i] != nil) || (cb.Status() == metalshim.Failed) != (e != nil) {
				set(callfault.Wait, i, errors.New("Wait, Err and Status differ"))
			}
		}
		cb.Release()
	}
	return got
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		plan  string
		call  callfault.Call
		fails [2]bool
	}{
		{"lib,n=1,fail", callfault.Library, [2]bool{true, false}},
		{"lib=Two,fail", callfault.Library, [2]bool{false, true}},
		{"lib=Two,n=2,fail", callfault.Library, [2]bool{false, false}},
		{"pipe=fOne,fail", callfault.Pipeline, [2]bool{true, false}},
		{"pipe,n=2,fail", callfault.Pipeline, [2]bool{false, true}},
		{"alloc,n=1,fail", callfault.Alloc, [2]bool{true, false}},
		{"commit,fail", callfault.Commit, [2]bool{true, true}},
		{"wait,n=2,fail", callfault.Wait, [2]bool{false, true}},
	} {
		plan, err := callfault.Parse(c.plan)
		if err != nil {
			t.Fatal(err)
		}
		d := &shimtest.Device{}
		got := use(context.Background(), callfault.New(plan).Wrap(d))
		for call, errs := range got {
			for i, err := range errs {
				want := call == c.call && c.fails[i]
				if want != errors.Is(err, callfault.ErrInjected) || !want && err != nil {
					t.Errorf("%s: %s %d gave %v", c.plan, call, i+1, err)
				}
			}
		}
		// What was made besides the failure has been released.
		if live := d.Live(); live != (metalshim.Counts{}) {
			t.Errorf("%s: live %+v", c.plan, live)
		}
	}
}

// TestNoCopy: a buffer of memory that is there counts as any other.
func TestNoCopy(t *testing.T) {
	d := &shimtest.Device{}
	wrapped := callfault.New(callfault.Rules{{Call: callfault.Alloc, N: 2, Fail: true}}).Wrap(d)
	for i, fails := range []bool{false, true, false} {
		b, err := metalshim.NewBufferNoCopy(wrapped, make([]byte, 8))
		if errors.Is(err, callfault.ErrInjected) != fails || !fails && err != nil {
			t.Fatalf("buffer %d: error %v", i+1, err)
		}
		if err == nil {
			b.Release()
		}
	}
	if live := d.Live(); live != (metalshim.Counts{}) {
		t.Errorf("live %+v", live)
	}
}

// TestUnused: a rule that never came to act is told, in the words that it was
// given in.
func TestUnused(t *testing.T) {
	plan, err := callfault.Parse("lib=Two,delay=1ms;lib=Three,delay=2s;pipe,n=2,delay=1ms;pipe,n=3,delay=1ms,fail;wait,n=9,fail")
	if err != nil {
		t.Fatal(err)
	}
	in := callfault.New(plan)
	if got := len(in.Unused()); got != 5 {
		t.Errorf("before the first call %d of 5 are unused", got)
	}
	use(t.Context(), in.Wrap(&shimtest.Device{}))
	var unused []string
	for _, r := range in.Unused() {
		unused = append(unused, r.String())
	}
	if want := "lib=Three,delay=2s;pipe,n=3,delay=1ms,fail;wait,n=9,fail"; strings.Join(unused, ";") != want {
		t.Errorf("unused %q, want %s", unused, want)
	}
}

func TestDelay(t *testing.T) {
	plan, err := callfault.Parse("lib=Two,delay=30ms")
	if err != nil {
		t.Fatal(err)
	}
	d := callfault.New(plan).Wrap(&shimtest.Device{})
	begun := time.Now()
	if _, err := d.NewLibrary(context.Background(), metalshim.Source{Name: "Two"}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took < 30*time.Millisecond {
		t.Errorf("took %v, want at least 30ms", took)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	plan[0].Delay = time.Hour
	if _, err := callfault.New(plan).Wrap(&shimtest.Device{}).NewLibrary(ctx, metalshim.Source{Name: "Two"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
