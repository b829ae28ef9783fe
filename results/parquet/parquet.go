// Package parquet writes a recording as two tables in the Parquet format, so that
// DuckDB, pandas and polars read a folder of recordings at once: one of spans and
// one of samples. docs/views.md describes their columns.
//
// Texts are sanitized: a table is printed sooner or later. Times are in
// nanoseconds.
package parquet

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/system/files"
)

// The endings of the files that Write makes of a recording.
const (
	SpansEnding   = ".spans.parquet"
	SamplesEnding = ".samples.parquet"
)

// Name is what the files of the recording at path are called, without their
// endings.
func Name(path string) string { return strings.TrimSuffix(filepath.Base(path), recording.Ending) }

// batch is how many rows are handed to the library at once, and group how many
// are read together: a reader can pass over a group that has nothing of what it
// looks for.
const (
	batch = 512
	group = 128 << 10
)

// Write writes the tables of a recording to NAME.spans.parquet and
// NAME.samples.parquet in the folder, each whole or not at all, and returns their
// paths. A file of that name is replaced. The column "file" has the name.
func Write(folder, name string, f *recording.File) ([]string, error) {
	spans, samples := filepath.Join(folder, name+SpansEnding), filepath.Join(folder, name+SamplesEnding)
	err := write(spans, func(w io.Writer) error { return writeSpans(w, name, f) })
	if err == nil {
		err = write(samples, func(w io.Writer) error { return writeSamples(w, name, f) })
	}
	return []string{spans, samples}, err
}

// write writes a file, whole or not at all.
func write(path string, table func(io.Writer) error) error {
	out, err := files.Create(path, files.Options{Unsynced: true})
	if err != nil {
		return err
	}
	defer out.Discard()
	if err := table(out); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return out.Commit()
}

func writeSpans(w io.Writer, name string, f *recording.File) error {
	return encode(w, func(put func(Span) error) error {
		return each(f, name, func(r *run) error { return r.spans(put) })
	})
}

func writeSamples(w io.Writer, name string, f *recording.File) error {
	return encode(w, func(put func(Sample) error) error {
		return each(f, name, func(r *run) error { return r.samples(put) })
	})
}

// encode writes a table, whose rows are put one by one.
func encode[Row any](to io.Writer, rows func(put func(Row) error) error) error {
	w := parquet.NewGenericWriter[Row](to, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(group),
		parquet.KeyValueMetadata("made by", "introgen"))
	kept := make([]Row, 0, batch)
	flush := func() error {
		_, err := w.Write(kept)
		kept = kept[:0]
		return err
	}
	err := rows(func(r Row) error {
		if kept = append(kept, r); len(kept) < batch {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	return errors.Join(err, w.Close())
}

// run is a run of a recording, taken apart, with what its rows have in common.
type run struct {
	of    Of
	taken *breakdown.Run
}

// each does the same to every run of a recording, and to those that the programs of
// its runs started.
func each(f *recording.File, name string, do func(*run) error) error {
	for i, r := range f.Runs {
		for process, one := range append([]*recording.Run{r}, r.Children...) {
			of := columns(f, r, one, i+1)
			of.File, of.Process = sanitize.Line(name), int32(process)
			if err := do(&run{of, breakdown.Take(one)}); err != nil {
				return err
			}
		}
	}
	return nil
}
