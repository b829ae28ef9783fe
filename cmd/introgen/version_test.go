package main

import (
	"runtime/debug"
	"testing"
)

// TestVersion: a checkout at a tag says the tag, another one its commit, and a
// build that knows neither says why. What Go records is as go 1.26 does it: the
// commit's tag, or a version made of the last tag and the commit, with +dirty
// where files were changed.
func TestVersion(t *testing.T) {
	const commit = "e73f9374e5c5296e4f1ff6a86248e5e3ebec2e89"
	for _, c := range []struct{ version, commit, modified, want string }{
		{"v0.9.1", commit, "false", "v0.9.1 e73f9374e5c5 go1.26.8"},
		{"v0.9.1+dirty", commit, "true", "v0.9.1+dirty e73f9374e5c5 go1.26.8"},
		{"v1.2.0-rc.1", commit, "false", "v1.2.0-rc.1 e73f9374e5c5 go1.26.8"},
		{"v0.9.2-0.20261130104445-e73f9374e5c5", commit, "false", "v0.9.2-0.20261130104445-e73f9374e5c5 go1.26.8"},
		{"v0.0.0-20261130095837-e73f9374e5c5+dirty", commit, "true", "v0.0.0-20261130095837-e73f9374e5c5+dirty go1.26.8"},
		{"(devel)", commit, "true", "(devel) e73f9374e5c5 with changes go1.26.8"},
		{"(devel)", "", "", "(devel) built without version control go1.26.8"},
		{"", "", "", "(devel) built without version control go1.26.8"},
		{"v0.9.1", "", "", "v0.9.1 go1.26.8"}, // go install of a version
	} {
		info := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: c.version}}
		if c.commit != "" {
			info.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: c.commit}, {Key: "vcs.modified", Value: c.modified}}
		}
		if got := buildOf(info).String(); got != c.want {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
}
