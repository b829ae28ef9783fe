// Package record runs a program with a recorder loaded into it, and hands on what it
// and its children do with Metal as recordings, while they do it.
package record

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/introgen/introgen/metalshim/recorder"
	"github.com/introgen/introgen/record/executable"
	"github.com/introgen/introgen/record/launch"
	"github.com/introgen/introgen/record/marks"
	"github.com/introgen/introgen/results/recording"
)

// Options say what is run and how it is recorded.
type Options struct {
	Program *executable.Program
	Args    []string // from the name on by which it is called
	Env     []string // of the program, without what records it
	Library string   // the recorder
	// Folders are where the program finds libraries before all others, by LD_LIBRARY_PATH.
	Folders []string
	Streams launch.Options // its Stdin, Stdout and Stderr

	Marks      []marks.Mark
	Nonce      string // "" for none
	Dispatches bool
	Known      func(digest string) string // the library whose source has the digest

	Header recording.Header // of each run, but for the process
	// Put takes the events of the recording in their order. It is called by one
	// goroutine, beside the program; Flush after each portion.
	Put   func(recording.Event)
	Flush func()
}

// Result is what became of the program.
type Result struct {
	launch.Ending
	Took    time.Duration
	Written map[string]int64 // bytes by stream
	Used    int              // processes that used Metal
	Sources int              // libraries that were compiled from source
	Nonce   bool             // the nonce was added to all of them
	Lost    int64            // events
	Notes   []string         // what else is to be said
}

// Run runs a program to its end.
func Run(o Options) (*Result, error) {
	folder, err := ringFolder()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	rings, err := recorder.OpenFolder(folder)
	if err != nil {
		return nil, err
	}
	w := &watch{
		o: o, rings: rings, written: map[string]int64{}, begun: map[string]bool{}, lines: map[string]*marks.Lines{},
		put: newSink(o.Put, o.Flush), result: &Result{},
	}
	for _, stream := range []string{recording.StreamOut, recording.StreamErr} {
		w.lines[stream] = &marks.Lines{Marks: o.Marks}
	}
	l := o.Streams
	l.Path, l.Args, l.Wrote = o.Program.Path, o.Args, w.wrote
	var notes []string
	l.Env, notes = environment(o, folder)
	w.result.Notes = append(w.result.Notes, notes...)
	running, err := launch.Start(l)
	if err != nil {
		w.put.close()
		return nil, err
	}
	defer running.Close()
	w.running = running
	w.run()
	return w.result, w.failed
}

// preloads is the variable that names libraries to load into a program.
func preloads() string {
	if runtime.GOOS == "darwin" {
		return "DYLD_INSERT_LIBRARIES"
	}
	return "LD_PRELOAD"
}

// libraries is the variable that names folders of libraries.
const libraries = "LD_LIBRARY_PATH"

// environment is that of the program, with the recorder in it and none of before.
func environment(o Options, folder string) (env, notes []string) {
	preload, searched := []string{o.Library}, o.Folders
	for _, v := range o.Env {
		name, value, _ := strings.Cut(v, "=")
		switch name {
		case recorder.Environment, recorder.NonceEnvironment:
			notes = append(notes, fmt.Sprintf("%s was set to %q and is set anew: it is a recorder's", name, value))
		case preloads():
			for _, library := range strings.FieldsFunc(value, func(r rune) bool { return r == ':' || r == ' ' && runtime.GOOS == "linux" }) {
				if isRecorder(library, o.Library) {
					notes = append(notes, fmt.Sprintf("%s had another recorder, %s: it is left out, since two would record each other", name, library))
					continue
				}
				preload = append(preload, library)
			}
		case libraries:
			if value != "" {
				searched = append(searched, value)
			}
		default:
			env = append(env, v)
		}
	}
	env = append(env, preloads()+"="+strings.Join(preload, ":"), recorder.Environment+"="+recorder.Setting(folder))
	if len(searched) > 0 {
		env = append(env, libraries+"="+strings.Join(searched, ":"))
	}
	if o.Nonce != "" {
		env = append(env, recorder.NonceEnvironment+"="+o.Nonce)
	}
	return env, notes
}

// isRecorder says whether a library is a recorder of any version: all lie in folders
// of one name.
func isRecorder(library, ours string) bool {
	folder := func(path string) string {
		dir := filepath.Dir(path)
		return filepath.Join(filepath.Base(filepath.Dir(dir)), filepath.Base(dir))
	}
	return library == ours || folder(library) == folder(ours)
}

// write is something that the program wrote.
type write struct {
	stream string
	at     int64
	bytes  int
	phases []string
}

// writes are those that nobody has looked at yet.
type writes struct {
	mu  sync.Mutex
	all []write
}

func (w *writes) add(x write) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.all); n > 0 && n >= mostWaiting && len(x.phases) == 0 && w.all[n-1].stream == x.stream {
		w.all[n-1].bytes += x.bytes // what is not read for so long need not be told apart
		return
	}
	w.all = append(w.all, x)
}

// mostWaiting is how many writes are kept apart until they are looked at.
const mostWaiting = 100_000

func (w *writes) take() []write {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.all
	w.all = nil
	return all
}
