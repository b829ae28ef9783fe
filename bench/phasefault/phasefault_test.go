package phasefault_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/bench/phasefault"
	"github.com/introgen/introgen/trace/names"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]phasefault.Rules{
		"read,delay=50ms":                {{Phase: names.SpanRead, Delay: 50 * time.Millisecond}},
		"step,slow=5%":                   {{Phase: names.SpanStep, Slow: 0.05}},
		"step,n=3,delay=150us":           {{Phase: names.SpanStep, N: 3, Delay: 150 * time.Microsecond}},
		" build , fail; prefill,slow=9%": {{Phase: names.SpanBuild, Fail: true}, {Phase: names.SpanPrefill, Slow: 0.09}},
		"encode,delay=1s,slow=0.5%,fail": {{Phase: names.SpanEncodePrompt, Delay: time.Second, Slow: 0.005, Fail: true}},
	} {
		got, err := phasefault.Parse(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
			continue
		}
		var words []string
		for _, r := range got {
			words = append(words, r.String())
		}
		if again, err := phasefault.Parse(strings.Join(words, ";")); err != nil || !reflect.DeepEqual(again, want) {
			t.Errorf("%q is written as %q, which is %+v, %v", text, words, again, err)
		}
	}
	for text, want := range map[string]string{
		"":                "unknown phase",
		"lib,delay=1s":    "unknown phase",
		"step=3,fail":     "unknown phase",
		"step":            "neither",
		"step,":           "unknown part",
		"step,n=0,fail":   "no number from 1",
		"step,delay=2":    "no duration",
		"step,delay=-1s":  "no duration",
		"step,slow=5":     "no part",
		"step,slow=-5%":   "no part",
		"step,slow=NaN%":  "no part",
		"step,slow=1e9%":  "no part",
		"step,fail=yes":   "unknown part",
		"step,fail;":      "unknown phase",
		"step,slow=5%;no": "unknown phase",
	} {
		if _, err := phasefault.Parse(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "such as step,slow=5%") {
			t.Errorf("%q: error %v, want %q and an example", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("read,delay=50ms;step,n=3,slow=5%,fail")
	f.Fuzz(func(t *testing.T, text string) {
		plan, err := phasefault.Parse(text)
		if err == nil && len(plan) == 0 {
			t.Error("an empty plan without an error")
		}
		for _, r := range plan {
			if again, err := phasefault.Parse(r.String()); err != nil || len(again) != 1 {
				t.Errorf("%q gives the rule %q, which is not read again: %v", text, r, err)
			}
		}
	})
}

func TestSplit(t *testing.T) {
	for text, want := range map[string][2]string{
		"lib=Gemm,delay=2s;step,slow=5%;commit,delay=1ms;read,fail": {"step,slow=5%;read,fail", "lib=Gemm,delay=2s;commit,delay=1ms"},
		"step,fail": {"step,fail", ""},
		"nonsense":  {"", "nonsense"},
		"":          {"", ""},
	} {
		if ours, others := phasefault.Split(text); [2]string{ours, others} != want {
			t.Errorf("%q: %q and %q, want %q", text, ours, others, want)
		}
	}
}

// around measures what the plan makes of work that takes so long.
func around(t *testing.T, text, phase string, work time.Duration) time.Duration {
	t.Helper()
	plan, err := phasefault.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	err = phasefault.New(plan).Around(t.Context())(phase, func() error {
		for start := time.Now(); time.Since(start) < work; {
		}
		return nil
	})
	if err != nil {
		t.Errorf("%s: %v", text, err)
	}
	return time.Since(begun)
}

// TestTimes: the extra time is that of the rule; tried again where it is more,
// since this machine may have others on it, and never less.
func TestTimes(t *testing.T) {
	for _, c := range []struct {
		text, phase string
		work, want  time.Duration
	}{
		{"step,delay=150us", names.SpanStep, 0, 150 * time.Microsecond},
		{"step,delay=20ms", names.SpanStep, 0, 20 * time.Millisecond},
		{"step,slow=5%", names.SpanStep, 10 * time.Millisecond, 10500 * time.Microsecond},
		{"step,slow=50%;step,delay=1ms", names.SpanStep, 4 * time.Millisecond, 7 * time.Millisecond},
		{"read,delay=1s", names.SpanStep, 0, 0},
	} {
		took := around(t, c.text, c.phase, c.work)
		for range 50 {
			if took <= c.want+c.want/10+100*time.Microsecond {
				break
			}
			took = around(t, c.text, c.phase, c.work)
		}
		if took < c.want-c.want/100 || took > c.want+c.want/10+100*time.Microsecond {
			t.Errorf("%s: took %v, want %v", c.text, took, c.want)
		}
	}
}

func TestNumberAndFailure(t *testing.T) {
	plan, err := phasefault.Parse("step,n=2,fail;read,fail;build,delay=1ns;step,n=4,fail")
	if err != nil {
		t.Fatal(err)
	}
	in := phasefault.New(plan)
	do := in.Around(t.Context())
	worked := 0
	work := func() error { worked++; return nil }
	boom := errors.New("boom")
	if err := do(names.SpanStep, work); err != nil {
		t.Error(err)
	}
	if err := do(names.SpanStep, work); !errors.Is(err, phasefault.ErrInjected) || err.Error() != "injected fault" {
		t.Errorf("the second step: %v", err)
	}
	if err := do(names.SpanStep, func() error { return boom }); !errors.Is(err, boom) {
		t.Errorf("an error of the work: %v", err)
	}
	if worked != 1 {
		t.Errorf("worked %d times, want once", worked)
	}
	var unused []string
	for _, r := range in.Unused() {
		unused = append(unused, r.String())
	}
	if got := strings.Join(unused, ";"); got != "read,fail;build,delay=1ns;step,n=4,fail" {
		t.Errorf("unused are %s", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if plan, err = phasefault.Parse("step,delay=1h"); err != nil {
		t.Fatal(err)
	}
	if err := phasefault.New(plan).Around(ctx)(names.SpanStep, work); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
