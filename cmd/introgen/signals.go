package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
)

// stopSignals are the signals upon which a run ends, keeping what was measured:
// also that of a terminal which is closed, unless nohup has it ignored.
func stopSignals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// sameTouch is how long after a signal another is the same one: timeout(1) sends
// its signal to the process and then to its group.
const sameTouch = 250 * time.Millisecond

// stopContext is cancelled by the first of those signals. The second one ends the
// process at once, also where a shell that has put it into the background had the
// signal ignored.
func stopContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	got := make(chan os.Signal, 2)
	signal.Notify(got, stopSignals()...)
	go func() {
		<-got
		cancel()
		first := time.Now()
		second := <-got
		for time.Since(first) < sameTouch {
			second = <-got
		}
		signal.Reset(second)
		if number, ok := second.(syscall.Signal); ok {
			// So that a shell sees that it was the signal.
			_ = syscall.Kill(os.Getpid(), number)
			time.Sleep(100 * time.Millisecond)
		}
		os.Exit(exitInterrupted)
	}()
	return ctx
}

// endAtOnce gives those signals their effect back, in commands that only read
// and print: they have nothing to keep but a profile, and may wait for a pipe or
// read for long.
func endAtOnce(c *cli.Context) error {
	if s := sessionOf(c); s.profile != nil && s.typed {
		context.AfterFunc(c.Context, func() {
			_ = s.profile.end(s.note) // the command was given up
			os.Exit(exitInterrupted)
		})
		return nil
	}
	signal.Reset(stopSignals()...)
	return nil
}

// How long a command that was interrupted may take before it says what it waits
// for, and until it says so again.
const (
	patience = 800 * time.Millisecond
	reminder = 10 * time.Second
)

const waiting = "interrupted: waiting for %s; a second Ctrl-C ends it at once"

// awaited tells, from when ctx has ended until over is called, what the command
// still waits for.
func (s *session) awaited(ctx context.Context) (over func()) {
	if !s.typed {
		return func() {}
	}
	done, told := make(chan struct{}), make(chan struct{})
	stderr := s.stderr
	unhook := context.AfterFunc(ctx, func() {
		defer close(told)
		for wait := patience; ; wait = reminder {
			select {
			case <-done:
				return
			case <-time.After(wait):
				if s.left.Load() {
					return
				}
				// Whoever holds the session may be what is waited for: a reader of
				// the output, or of a recording, that does not come.
				if held := s.mu.TryLock(); held {
					s.say(fmt.Sprintf(waiting, s.doing(true)))
					s.mu.Unlock()
				} else {
					noteTo(stderr, waiting, s.doing(false))
				}
			}
		}
	})
	return func() {
		close(done)
		if !unhook() {
			<-told
		}
	}
}

// leaveWaiting leaves it to a command that is run, and that gets the same signals, to
// say what is waited for.
func (s *session) leaveWaiting() { s.left.Store(true) }

// waitsFor takes what says, in words, what the command is at.
func (s *session) waitsFor(at func() string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = at
}

// doing is what the command is at, in words. Where s.mu is not held, a round is.
func (s *session) doing(held bool) string {
	if held && s.at != nil {
		if text := s.at(); text != "" {
			return text
		}
	}
	if held && s.header == nil {
		return "`introgen " + s.command() + "`, which runs for " + since(s.rec.Now())
	}
	inner := s.rec.Record(s.rec.Current())
	var spans []string
	for r := inner; r.Name != ""; r = s.rec.Record(r.Parent) {
		spans = append(spans, strings.TrimSpace(r.Name+" "+r.Detail))
	}
	slices.Reverse(spans)
	return strings.Join(spans, " > ") + ", for " + since(s.rec.Now()-inner.Start)
}

// since is a duration for people.
func since(d time.Duration) string { return d.Round(100 * time.Millisecond).String() }

// command is the words before the first flag or file: "model fetch".
func (s *session) command() string {
	words := s.args[:min(2, len(s.args))]
	end := slices.IndexFunc(words, func(a string) bool { return a == "" || a[0] < 'a' || a[0] > 'z' })
	if end >= 0 {
		words = words[:end]
	}
	return strings.Join(words, " ")
}
