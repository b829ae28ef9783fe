package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/trace/names"
	"github.com/urfave/cli/v2"
)

const archiveName = "archive"

func archiveFlag() cli.Flag {
	return &cli.StringFlag{Name: archiveName, DefaultText: "none",
		Usage: "take compiled libraries and pipelines from `FILE`, and write what was missing into it at the end; on a Mac it is an MTLBinaryArchive, which holds pipelines alone"}
}

// readArchive reads --archive.
func (k *metalKnobs) readArchive(c *cli.Context) error {
	switch k.archive = c.String(archiveName); {
	case k.archive == "" && c.IsSet(archiveName):
		return usagef("--%s is empty: a file is wanted, new or an archive", archiveName)
	case k.archive != "" && k.keep != "":
		return usagef("--%s and --keep-generated: of what comes from an archive nothing is generated; give one of them", archiveName)
	}
	if k.archive != "" {
		// The folder is the user's own.
		k.origins[archiveName] = recording.Knob{Name: archiveName, Value: sanitize.Line(filepath.Base(k.archive)), Origin: recording.FromFlag}
	}
	return nil
}

// usedArchive is the archive of a run. A nil one is none.
type usedArchive struct {
	metalshim.Archive
	path   string
	before int64 // bytes
}

// openArchive opens the archive at path; "" is none.
func openArchive(g *generation, shim *metalshim.Instrumented, path string) (*usedArchive, error) {
	if path == "" {
		return nil, nil
	}
	g.enter(names.SpanArchive, "open")
	a, err := metalshim.NewArchive(shim, path)
	if err != nil {
		return nil, usagef("--%s: %w", archiveName, err)
	}
	return &usedArchive{a, path, fileSize(path)}, nil
}

// fileSize is a file's length, 0 of one that is not there.
func fileSize(path string) int64 {
	if is, err := os.Stat(path); err == nil {
		return is.Size()
	}
	return 0
}

// use is what the engine is given.
func (a *usedArchive) use() metalshim.Archive {
	if a == nil {
		return nil
	}
	return a.Archive
}

func (a *usedArchive) release() {
	if a != nil {
		a.Release()
	}
}

// saveArchive writes what was missing. Of sources that end in a nonce nothing is
// kept: no run will have them again.
func (m *openedMetal) saveArchive(g *generation) error {
	if m.archive == nil || m.shim.Nonce() != "" {
		return nil
	}
	g.enter(names.SpanArchive, "write")
	if err := m.archive.Save(); err != nil {
		return fmt.Errorf("--%s: %w", archiveName, err)
	}
	return nil
}

// gave is what came from the archive, and why the rest did not.
func (a *usedArchive) gave(shim *metalshim.Instrumented) *recording.Archive {
	out := &recording.Archive{File: sanitize.Line(filepath.Base(a.path)), Before: a.before, After: fileSize(a.path)}
	at := map[string]int{}
	count := func(e metalshim.Evidence, given *int) {
		if e.State == names.CacheArchive {
			*given++
			return
		}
		i, seen := at[e.Archive]
		if !seen {
			i = len(out.Missed)
			at[e.Archive] = i
			out.Missed = append(out.Missed, recording.Missed{Why: e.Archive})
		}
		out.Missed[i].Number++
	}
	for _, l := range shim.Libraries() {
		count(l.Evidence, &out.Libraries)
	}
	for _, p := range shim.Pipelines() {
		count(p.Evidence, &out.Pipelines)
	}
	return out
}
