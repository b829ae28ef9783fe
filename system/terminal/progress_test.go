package terminal

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"time"
)

// clock is a time that stands still until it is moved.
type clock struct{ t time.Time }

func (c *clock) now() time.Time          { return c.t }
func (c *clock) advance(d time.Duration) { c.t = c.t.Add(d) }

func meter(mode Mode) (*Meter, *bytes.Buffer, *clock) {
	var b bytes.Buffer
	c := &clock{t: time.Unix(1000, 0)}
	m := NewMeter(&b, mode)
	m.now = c.now
	return m, &b, c
}

func TestLines(t *testing.T) {
	m, out, c := meter(Lines)
	m.Say("model %s", "x.gguf")
	s := m.Start("wheel", 200_000_000)
	s.Add(1_000_000) // too early for a line
	c.advance(3 * time.Second)
	s.Add(49_000_000)
	c.advance(time.Second)
	s.Add(1)
	s.Set(200_000_000)
	c.advance(500 * time.Millisecond)
	s.Done(nil)
	want := "model x.gguf\n" +
		"wheel: 50.0 MB of 200.0 MB (25 %), 3s\n" +
		"wheel: 200.0 MB in 4.5s\n"
	if got := out.String(); got != want {
		t.Errorf("lines:\n%s\nwant:\n%s", got, want)
	}
}

func TestBarBlanksTheLineBefore(t *testing.T) {
	m, out, c := meter(Bar)
	s := m.Start("w", 0)
	c.advance(time.Second)
	s.Write(make([]byte, 1500))
	c.advance(time.Second)
	s.Set(7)
	s.Done(nil)
	want := "\rw: 1.50 kB, 1s" + "\rw: 7 bytes, 2s" + "\rw: 7 bytes in 2s\n"
	if got := out.String(); got != want {
		t.Errorf("bar: %q\nwant %q", got, want)
	}
	m.Start("a much longer label", 0).Done(nil)

	m, out, c = meter(Bar)
	s = m.Start("long", 9)
	c.advance(time.Second)
	s.Set(3)
	s.Done(errors.New("cut"))
	if got, want := out.String(), "\rlong: 3 bytes of 9 bytes (33 %), 1s\n"; got != want {
		t.Errorf("bar of a failed step: %q; want %q", got, want)
	}
}

func TestSilent(t *testing.T) {
	m, out, c := meter(Silent)
	for _, m := range []*Meter{m, nil} {
		m.Say("x")
		s := m.Start("y", 1)
		c.advance(time.Minute)
		s.Add(1)
		s.Done(nil)
	}
	if out.Len() > 0 {
		t.Errorf("a silent meter wrote %q", out)
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := Auto(f); got != Silent {
		t.Errorf("Auto(%s) = %v; want Silent", os.DevNull, got)
	}
}

// TestSayGivesWay: what is said during a step does not stand behind its line.
func TestSayGivesWay(t *testing.T) {
	m, out, c := meter(Bar)
	s := m.Start("w", 0)
	c.advance(time.Second)
	s.Set(7)
	m.Say("again")
	s.Done(nil)
	if got, want := out.String(), "\rw: 7 bytes, 1s"+"\r              \r"+"again\n"+"\rw: 7 bytes in 1s\n"; got != want {
		t.Errorf("bar: %q\nwant %q", got, want)
	}
}
