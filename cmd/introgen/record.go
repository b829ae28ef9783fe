package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/introgen/introgen/cmd/introgen/commandline"
	"github.com/introgen/introgen/metalshim/recorder"
	foreign "github.com/introgen/introgen/record"
	"github.com/introgen/introgen/record/executable"
	"github.com/introgen/introgen/record/launch"
	"github.com/introgen/introgen/record/marks"
	"github.com/introgen/introgen/results/console"
	"github.com/introgen/introgen/results/recording"
	"github.com/urfave/cli/v2"
)

func recordCommand() *cli.Command {
	return &cli.Command{
		Name:      "record",
		Usage:     "run any program that uses Metal, unmodified, and record what it does with it",
		ArgsUsage: "-- PROGRAM [ARGUMENTS]",
		Description: "PROGRAM runs as it would by itself: stdin, stdout, stderr, signals and the exit code are its own.\n" +
			"What introgen has to say comes on stderr when it has ended. Processes that it starts and that use\n" +
			"Metal are recorded too, each as a run of its own.\n\n" +
			"Phases are cut by marks: a line of its output that matches --mark, a line \"" + marks.Prefix + "NAME\",\n" +
			"or a call of introgen_mark(\"NAME\"), which it finds by dlsym. \"read gguf\", \"build model\", \"prefill\" and\n" +
			"\"decode step\" are known to all reports. Without marks the phases are \"start\", \"to first output\" and\n" +
			"\"after\", in which what repeats itself is cut into steps.\n\n" +
			"On macOS the program must allow that a library is loaded into it; on Linux it is built with what\n" +
			"`introgen sdk` writes. docs/record.md says what is seen, and what it costs.\n\n" +
			"Examples:\n" +
			"   introgen record -- ./chat model.gguf\n" +
			"   introgen record --nonce -- ./chat model.gguf          nothing that it compiles is in any cache\n" +
			"   introgen record --mark '^loaded=prefill' --mark '^> =decode step' -- ./chat model.gguf\n" +
			"   introgen record -o chat.introgen -- python3 chat.py\n" +
			"   introgen show 1 --as table",
		Flags: append(outputFlags(),
			&cli.StringSliceFlag{Name: "mark", Usage: "`REGEXP=PHASE`: a line of the program's output that matches begins the phase; may be given several times"},
			&cli.GenericFlag{Name: "nonce", Value: &commandline.OptionalText{}, DefaultText: "none",
				Usage: "end every source that the program compiles with a comment, so that no cache can match: --nonce takes the time, --nonce=TEXT a text"},
			&cli.BoolFlag{Name: "dispatches", Usage: "record every dispatch and every barrier, with its grid"},
			&cli.BoolFlag{Name: "quiet", Usage: "print nothing of introgen's own but what went wrong"},
		),
		Action: runRecord,
	}
}

// programEnded is the error of a command that ends as the program did that it ran.
type programEnded struct{ status int }

func (p programEnded) Error() string {
	return fmt.Sprintf("the program ended with exit code %d", p.status)
}

func runRecord(c *cli.Context) error {
	o, err := recordOptions(c)
	if err != nil {
		return err
	}
	if o.Library, err = recorder.Build(c.Context); err != nil {
		return err
	}
	s := sessionOf(c)
	var unlinked string
	if o.Folders, o.Env, unlinked, err = metalOf(c.Context, o.Program, o.Env); err != nil {
		return err
	}
	o.Header = *newHeader(c, s.args, map[string]recording.Knob{"nonce": origin(c, "nonce", "", o.Nonce, false)})
	o.Header.View = recording.View{Label: c.Command.Name}
	if err := s.open(c); err != nil {
		return err
	}
	shown := s.beside(&o, c.Bool("quiet"))
	if unlinked != "" {
		s.note(unlinked)
	}
	r, err := foreign.Run(o)
	s.mu.Lock()
	s.stderr = shown.stderr
	s.mu.Unlock()
	if r == nil {
		s.out.discard()
		return err
	}
	s.out.close(&shown.later)
	if s.out.collector != nil {
		s.out.writeViews(s.out.collector.File())
	}
	shown.print(s, r, o.Nonce, c.Bool("quiet"))
	if err != nil {
		noteTo(s.stderr, "%v", err)
	}
	if s.out.broken != nil {
		noteTo(s.stderr, "%v", s.out.broken)
	}
	if status := r.Status(); status != exitOK {
		return programEnded{status}
	}
	return nil
}

// recordOptions reads the flags, and looks at the program.
func recordOptions(c *cli.Context) (o foreign.Options, err error) {
	if !c.Args().Present() {
		return o, usagef("record wants a program to run: `introgen record -- PROGRAM ARGUMENTS`")
	}
	for _, text := range c.StringSlice("mark") {
		m, err := marks.Parse(text)
		if err != nil {
			return o, usagef("--mark %w", err)
		}
		o.Marks = append(o.Marks, m)
	}
	o.Args = c.Args().Slice()
	if o.Program, err = executable.Find(o.Args[0]); err != nil {
		return o, misuse(err)
	}
	o.Nonce = readNonce(*c.Generic("nonce").(*commandline.OptionalText), "", time.Now())
	if strings.ContainsAny(o.Nonce, "\r\n\x00") {
		return o, usagef("--nonce %q: it becomes a comment of one line, so that it can have no line break", o.Nonce)
	}
	if !utf8.ValidString(o.Nonce) {
		return o, usagef("--nonce %q: it becomes a comment in the program's sources, so that it must be UTF-8", o.Nonce)
	}
	o.Dispatches, o.Env = c.Bool("dispatches"), os.Environ()
	o.Known, err = knownSources()
	var stdout io.Writer = os.Stdout
	if out, ok := c.App.Writer.(*sink); ok {
		stdout = out.w
	}
	o.Streams = launch.Options{Stdin: os.Stdin, Stdout: stdout, Stderr: c.App.ErrWriter}
	return o, err
}

// besides is what introgen has to say while stderr is the program's.
type besides struct {
	stderr io.Writer
	later  bytes.Buffer // notes
	text   bytes.Buffer // what is printed of the run
	n      int          // events that were printed
}

// mostShown is how many events are kept to be printed at the end of a run.
const mostShown = 1_000_000

// beside has the session say nothing until the program has ended, and the events go
// to its outputs.
func (s *session) beside(o *foreign.Options, quiet bool) *besides {
	b := &besides{}
	s.mu.Lock()
	b.stderr, s.stderr = s.stderr, &b.later
	if !quiet {
		s.out.printer = console.New(&b.text)
	}
	if len(s.out.views) > 0 {
		s.out.collector = recording.NewCollector()
	}
	s.mu.Unlock()
	o.Put = func(e recording.Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if b.n++; b.n == mostShown {
			s.out.printer = nil
		}
		s.out.put(e)
	}
	o.Flush = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.out.flush()
	}
	return b
}

// print says what there is to say of a run that has ended.
func (b *besides) print(s *session, r *foreign.Result, nonce string, quiet bool) {
	_, _ = s.stderr.Write(b.later.Bytes()) // nobody is left to be told
	for _, text := range r.Notes {
		noteTo(s.stderr, "%s", text)
	}
	if r.Lost > 0 {
		noteTo(s.stderr, "%d events are lost: the program made them faster than they were read", r.Lost)
	}
	if nonce != "" && !r.Nonce {
		noteTo(s.stderr, "--nonce: %s, so that the run does not count as cold", unnonced(r))
	}
	if quiet {
		return
	}
	if b.n >= mostShown {
		noteTo(s.stderr, "the run has %d events, too many to be shown at once: `introgen show` shows them", b.n)
	} else {
		_, _ = s.stderr.Write(b.text.Bytes())
	}
	for _, f := range s.out.files {
		switch {
		case f.asked:
			fmt.Fprintf(s.stderr, "# recorded: %s\n", f.path)
		case f.kept:
			fmt.Fprintln(s.stderr, "# recorded: `introgen show 1`")
		}
	}
}

// unnonced says why the nonce changed nothing.
func unnonced(r *foreign.Result) string {
	switch {
	case r.Used == 0:
		return "the program never used Metal"
	case r.Sources == 0:
		return "the program compiled nothing from source, and what it loads ready-made has no source to change"
	}
	return "it was not added to every source"
}
