package main

import (
	"cmp"
	"runtime/debug"
	"strings"

	"github.com/introgen/introgen/results/recording"
)

// build is what this program was built from.
type build struct {
	// version is the tag of the commit, or one that Go makes of the last tag and
	// the commit; of a build without either it is undated.
	version, goVersion string
	revision           string // of the repository; "" where it was not built from one
	changed            bool   // since then
	cgo                bool   // C is linked, where a package has some
}

const (
	undated     = "(devel)"
	withChanges = "with changes" // is said of a revision that was changed since
)

// built is this program, as the Go linker recorded it.
func built() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return build{version: "unknown"}
	}
	return buildOf(info)
}

func buildOf(info *debug.BuildInfo) build {
	b := build{version: cmp.Or(info.Main.Version, undated), goVersion: info.GoVersion}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.revision = s.Value
		case "vcs.modified":
			b.changed = s.Value == "true"
		case "CGO_ENABLED":
			b.cgo = s.Value == "1"
		}
	}
	b.changed = b.changed && b.revision != ""
	return b
}

// tool is the program for a recording.
func tool() recording.Tool {
	b := built()
	t := recording.Tool{Version: b.version, Commit: b.revision, Go: b.goVersion}
	if b.changed {
		t.Commit += " " + withChanges
	}
	return t
}

// String is the module's version and the commit it was built from, as the
// recordings state them too, in a line.
func (b build) String() string {
	v := b.version
	if len(b.revision) >= 12 && !strings.Contains(v, b.revision[:12]) { // a version that Go made up of it has it
		v += " " + b.revision[:12]
	}
	if b.changed && !strings.Contains(b.version, "+dirty") {
		v += " " + withChanges
	}
	if b.version == undated && b.revision == "" {
		v += " built without version control"
	}
	return strings.TrimSpace(v + " " + b.goVersion)
}
