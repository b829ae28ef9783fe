package main

import "strings"

// version is the module's version and the commit it was built from, as the
// recordings state them too, in a line.
func version() string {
	b := built()
	v := b.version
	if len(b.revision) >= 12 && !strings.Contains(v, b.revision[:12]) { // a version that Go made up of it has it
		v += " " + b.revision[:12]
	}
	if b.changed && !strings.HasSuffix(v, "+dirty") {
		v += " " + withChanges
	}
	return strings.TrimSpace(v + " " + b.goVersion)
}
