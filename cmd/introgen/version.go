package main

import "strings"

// version is the module's version and the commit it was built from, as the
// recordings state them too, in a line.
func version() string {
	t := tool()
	v := t.Version
	revision, changes, _ := strings.Cut(t.Commit, " ")
	if len(revision) >= 12 && !strings.Contains(v, revision[:12]) { // a version that was made up of it has it
		v += " " + revision[:12]
	}
	if changes != "" && !strings.HasSuffix(v, "+dirty") {
		v += " " + changes
	}
	return strings.TrimSpace(v + " " + t.Go)
}
