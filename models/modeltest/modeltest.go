// Package modeltest gives tests the real model's files, or a skip that says
// what brings them.
package modeltest

import (
	"testing"

	"github.com/introgen/introgen/models"
)

// Path returns the path of the named model file (models.StandIn,
// models.Source, models.Experiment), and skips the test where it is absent.
func Path(t testing.TB, name string) string {
	t.Helper()
	path, err := models.Find(name)
	if err != nil {
		t.Skipf("SKIP: needs the model file %s: %v", name, err)
	}
	return path
}
