package main

import (
	"runtime/debug"
	"strings"
)

// version is the module's version and the commit it was built from, as the Go
// linker recorded them.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" {
		v = "(devel)"
	}
	dirty := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			if !strings.Contains(v, s.Value[:12]) { // a version that was made up of it
				v += " " + s.Value[:12]
			}
		case s.Key == "vcs.modified" && s.Value == "true" && !strings.HasSuffix(v, "+dirty"):
			dirty = " with changes"
		}
	}
	return v + dirty + " " + info.GoVersion
}
