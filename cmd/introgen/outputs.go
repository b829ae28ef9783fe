package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/introgen/introgen/results/console"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/store"
	"github.com/urfave/cli/v2"
)

// outputFlags are those of every command that is recorded.
func outputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "output", Aliases: []string{"o"}, Usage: outputUsage()},
	}
}

// outputs are where the events of a command go: its console, the files that were
// asked for, and the recording that is kept by itself. They have no lock: whoever
// hands events on while the command runs holds that of the session; opened and
// closed they are by the command's own goroutine, before and after that.
type outputs struct {
	say       func(text string)    // tells what became of an output; called where events are handed on
	printer   *console.Printer     // nil where nothing is printed as it happens
	collector *recording.Collector // of what the views are made of; nil where that is known otherwise
	files     []*recordFile
	views     []*viewFile
	state     string // the state folder, "" for none
	watched   string // where to record for a page that is served meanwhile; "": nowhere
	line      []byte // memory for one encoded event
	broken    error  // why a file that was asked for is not whole
}

// recordFile is a recording that is being written.
type recordFile struct {
	path  string
	w     *recording.Writer
	asked bool // by --output
	kept  bool // by itself, as one of the last
	fresh bool // the file was not there before
}

// viewFile is a file that gets a view of the recording at the end.
type viewFile struct {
	path  string
	f     *os.File
	fresh bool
	as    format
}

// open opens the files of --output, and the recording of the command that is
// kept by itself. What was asked for and cannot be is an error, after which
// nothing is open; unkept says why none is kept, which is not worth one.
func (o *outputs) open(paths []string, command string) (unkept, err error) {
	for _, path := range paths {
		if err := o.openFile(path); err != nil {
			o.discard()
			return nil, err
		}
	}
	if o.watched != "" {
		w, err := recording.Create(o.watched)
		if err != nil {
			o.discard()
			return nil, err
		}
		o.files = append(o.files, &recordFile{path: o.watched, w: w, fresh: true})
	}
	keep, err := store.Keep()
	if err != nil {
		o.discard()
		return nil, misuse(err)
	}
	if o.state, err = store.Dir(); err != nil {
		return err, nil
	}
	if !keep || o.state == "" {
		return nil, nil
	}
	w, path, err := store.Create(o.state, command)
	if err != nil {
		return err, nil
	}
	o.files = append(o.files, &recordFile{path: path, w: w, kept: true, fresh: true})
	return nil, nil
}

// openFile opens one file of --output.
func (o *outputs) openFile(path string) error {
	_, err := os.Stat(path)
	fresh := errors.Is(err, fs.ErrNotExist)
	as, ok := formatOfFile(path)
	if !ok {
		return usagef("--output %q: the name must end in %s", path, strings.Join(formatNames(format.endingName), ", "))
	}
	if as.view == nil {
		w, err := recording.Create(path)
		if err != nil {
			return fmt.Errorf("--output: %w", err)
		}
		o.files = append(o.files, &recordFile{path: path, w: w, asked: true, fresh: fresh})
		return nil
	}
	// What is in the file stays until there is something to take its place.
	f, err := recording.OpenOutput(path, 0)
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	o.views = append(o.views, &viewFile{path, f, fresh, as})
	return nil
}

// asked says whether somebody waits for the files, so that the command goes on
// when nobody reads its console any more.
func (o *outputs) asked() bool {
	return len(o.views) > 0 || slices.ContainsFunc(o.files, func(f *recordFile) bool { return f.asked })
}

// put hands an event on.
func (o *outputs) put(e recording.Event) {
	if o.printer != nil {
		_ = o.printer.Event(e) // the printer keeps it
	}
	if o.collector != nil {
		o.collector.Add(e)
	}
	if len(o.files) == 0 {
		return
	}
	var err error
	if o.line, err = recording.Encode(o.line[:0], e); err != nil {
		o.say(fmt.Sprintf("not recorded: %v", err))
		return
	}
	o.putLine(o.line)
}

// putLine hands on an event that is encoded already.
func (o *outputs) putLine(line []byte) {
	o.each(func(f *recordFile) error { return f.w.PutLine(line) })
}

// flush has all of it written.
func (o *outputs) flush() { o.each(func(f *recordFile) error { return f.w.Flush() }) }

// each does the same to every recording. One that fails is given up; the command
// goes on.
func (o *outputs) each(do func(*recordFile) error) {
	whole := o.files[:0]
	for _, f := range o.files {
		err := do(f)
		if err == nil {
			whole = append(whole, f)
			continue
		}
		_ = f.w.Close() // it has failed already
		o.say(fmt.Sprintf("the recording %s ends here, the run goes on: %v", f.path, err))
		if f.asked {
			o.broken = fmt.Errorf("the recording %s is not whole: %w", f.path, err)
		}
	}
	o.files = whole
}

// close ends the recordings, packs the one that is kept by itself and removes the
// oldest, where stderr can be told that this failed.
func (o *outputs) close(stderr io.Writer) {
	o.each(func(f *recordFile) error { return f.w.Close() })
	for _, f := range o.files {
		if !f.kept {
			continue
		}
		if err := store.Pack(f.path); err != nil {
			noteTo(stderr, "the recording %s stays unpacked: %v", f.path, err)
		}
		if err := store.Tidy(o.state); err != nil {
			noteTo(stderr, "older recordings stay: %v", err)
		}
	}
}

// writeViews writes the views that were asked for of what was recorded.
func (o *outputs) writeViews(f *recording.File) {
	for _, v := range o.views {
		if failed := v.write(f); failed != nil && o.broken == nil {
			o.broken = failed
		}
	}
}

// write replaces what is in the file by its view of the recording.
func (v *viewFile) write(f *recording.File) error {
	err := recording.Empty(v.f)
	if err == nil {
		err = v.as.writeFile(v.path, v.f, f)
	}
	if err = errors.Join(err, v.f.Close()); err != nil {
		return fmt.Errorf("--output %s: %w", v.path, err)
	}
	return nil
}

// discard gives up all files, and removes those that were not there before.
func (o *outputs) discard() {
	for _, f := range o.files {
		_ = f.w.Close()
		if f.fresh {
			_ = os.Remove(f.path)
		}
	}
	for _, v := range o.views {
		_ = v.f.Close()
		if v.fresh {
			_ = os.Remove(v.path)
		}
	}
	o.files, o.views = nil, nil
}
