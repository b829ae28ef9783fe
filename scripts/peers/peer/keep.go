package peer

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/introgen/introgen/system/files"
)

// Save keeps a measurement as JSON, so that its report can be written again.
func Save(path string, measurement any) error {
	b, err := json.MarshalIndent(measurement, "", " ")
	if err != nil {
		return err
	}
	return files.Write(path, append(b, '\n'), files.Options{})
}

// Load reads what Save kept into measurement. What it holds is the caller's to judge.
func Load(path string, measurement any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, measurement); err != nil {
		return fmt.Errorf("%s holds no measurement: %w", path, err)
	}
	return nil
}
