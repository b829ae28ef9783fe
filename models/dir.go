// Package models knows the model files that the project works with: where they
// lie on disk, what they must be and whether they are, and what brings them. It
// reads the engine's formats and is read by commands and tests; the engine does
// not know it.
package models

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/introgen/introgen/system/files"
)

// DirEnv names the environment variable that moves the models folder.
const DirEnv = "INTROGEN_MODEL_DIR"

// ErrAbsent is what errors.Is finds in Find's error when there is no such file.
var ErrAbsent = errors.New("model absent")

// Dir returns the folder of the model files: $INTROGEN_MODEL_DIR where that is
// set, else models below files.Cache. The folder need not exist.
func Dir() (string, error) { return files.Folder(DirEnv, "models") }

// Find returns the path of a model file. name is a path, or the name of a file
// in Dir, or a known one's alias; the empty name is StandIn where that is there, else Experiment. A path that
// exists wins over a file of the same name in Dir. The error of a file that is
// not there wraps ErrAbsent and names what brings it.
func Find(name string) (string, error) {
	if name == "" {
		return findPreferred()
	}
	if _, err := os.Stat(name); err == nil {
		return name, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("model %q: %w", name, err)
	}
	if strings.ContainsRune(name, filepath.Separator) {
		return "", fmt.Errorf("%w: no file %s", ErrAbsent, name)
	}
	dir, err := Dir()
	if err != nil {
		return "", err
	}
	k, known := Lookup(name)
	file := name
	if known {
		file = k.Name
	}
	path := filepath.Join(dir, file)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("model %q: %w", name, err)
	}
	if known {
		return "", fmt.Errorf("%w: %s is not in %s; %s", ErrAbsent, name, dir, bring(k))
	}
	return "", fmt.Errorf("%w: %s is neither a file here nor in %s; %s shows what is there",
		ErrAbsent, name, dir, "`introgen model list`")
}

// findPreferred returns the model that a command takes when none is named.
func findPreferred() (string, error) {
	dir, err := Dir()
	if err != nil {
		return "", err
	}
	for _, name := range []string{StandIn, Experiment} {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: none in %s; %s", ErrAbsent, dir, bring(Known{}))
}

// bring says which command gets a known file.
func bring(k Known) string {
	switch {
	case k.Name == Experiment:
		return "get it with `introgen model fetch --source hub`"
	case k.Alias != "":
		return "get it with `introgen model fetch " + k.Alias + "`"
	}
	return "get it with `make setup` or `introgen model fetch`"
}
