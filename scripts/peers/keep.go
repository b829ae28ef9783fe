package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/scripts/peers/peer"
)

// modelFiles are the files that are measured, by the type of their weights.
var modelFiles = map[string]string{"Q8_0": models.StandIn, "Q4_1": models.Source}

// openModels finds the model files, lists the settings, and reads every file
// once so that all engines find it in the page cache.
func (r *Runner) openModels(m *Measurement) error {
	m.Files = map[string]int64{}
	for _, name := range []string{"Q8_0", "Q4_1"} {
		path, err := models.Find(modelFiles[name])
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		n, err := io.Copy(io.Discard, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		r.Models[name], m.Files[name] = path, n
		threads := []int{1}
		if m.Machine.Cores > 1 {
			threads = []int{2, 1}
		}
		for _, t := range threads {
			m.Settings = append(m.Settings, Setting{name, t})
		}
	}
	return nil
}

// save keeps everything measured, so that the report can be written again.
func (m *Measurement) save(path string) error { return peer.Save(path, m) }

func loadMeasurement(path string) (*Measurement, error) {
	m := new(Measurement)
	if err := peer.Load(path, m); err != nil {
		return nil, err
	}
	if len(m.Samples) == 0 || len(m.Settings) == 0 {
		return nil, fmt.Errorf("%s holds no measurement: it has no samples", path)
	}
	return m, nil
}
