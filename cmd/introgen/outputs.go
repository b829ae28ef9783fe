package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/introgen/introgen/models/digests"
	"github.com/introgen/introgen/results/benchtext"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/view"
	"github.com/introgen/introgen/trace/names"
	"github.com/urfave/cli/v2"
)

// outputFlags are those of every command that is recorded.
func outputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the recording to `FILE.introgen`, or a view of it to FILE.txt (benchstat's format), .json, .csv or .md; may be given several times"},
	}
}

// endings are the views that a file's ending asks for.
var endings = map[string]func(io.Writer, *recording.File) error{
	".txt":  benchtext.Write,
	".json": view.JSON,
	".csv":  reportElse(table.CSV, view.CSV),
	".md":   reportElse(table.Markdown, view.Markdown),
}

// viewFile is a file that gets a view of the recording at the end.
type viewFile struct {
	path  string
	f     *os.File
	fresh bool
	show  func(io.Writer, *recording.File) error
}

// openOutput opens one file of --output before anything is measured.
func (s *session) openOutput(path string) error {
	_, err := os.Stat(path)
	fresh := errors.Is(err, fs.ErrNotExist)
	ending := filepath.Ext(path)
	if ending == recording.Ending {
		w, err := recording.Create(path)
		if err != nil {
			return fmt.Errorf("--output: %w", err)
		}
		s.files = append(s.files, &recordFile{path: path, w: w, asked: true, fresh: fresh})
		return nil
	}
	show, ok := endings[ending]
	if !ok {
		return usagef("--output %q: the name must end in %s, %s", path, recording.Ending, strings.Join(slices.Sorted(maps.Keys(endings)), ", "))
	}
	// What is in the file stays until there is something to take its place.
	f, err := recording.OpenOutput(path, 0)
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	s.views = append(s.views, &viewFile{path, f, fresh, show})
	if s.collector == nil {
		s.collector = recording.NewCollector()
	}
	return nil
}

// write replaces what is in the file by its view of the recording.
func (v *viewFile) write(f *recording.File) error {
	err := recording.Empty(v.f)
	if err == nil {
		err = v.show(v.f, f)
	}
	if err = errors.Join(err, v.f.Close()); err != nil {
		return fmt.Errorf("--output %s: %w", v.path, err)
	}
	return nil
}

func (v *viewFile) discard() {
	_ = v.f.Close()
	if v.fresh {
		_ = os.Remove(v.path)
	}
}

// wanted says whether somebody waits for the run's recording, so that it goes on
// when nobody reads its output any more.
func (s *session) wanted() bool {
	return len(s.views) > 0 || slices.ContainsFunc(s.files, func(f *recordFile) bool { return f.asked })
}

// findDigest computes the digest of the model once and for all: after the last
// round, since it reads the whole file.
func (s *session) findDigest(ctx context.Context) {
	wanted := len(s.files)+len(s.views) > 0 || s.header.View.Bench // whose text says it
	if s.digestOf == "" || !wanted || ctx.Err() != nil {
		return
	}
	s.enter(names.SpanDigest, "")
	digest, err := digests.Compute(ctx, s.state, s.digestOf)
	if err != nil && ctx.Err() == nil {
		s.note(fmt.Sprintf("the digest of the model: %v", err))
	}
	s.digest = digest
}
