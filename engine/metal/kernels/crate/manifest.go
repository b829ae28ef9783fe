package crate

import (
	"strconv"
	"strings"
)

// packageOf reads the strings of a manifest's table [package]. cargo writes the
// manifests of crates anew, in one style: a key, " = " and a string on a line of
// their own. What is written otherwise is left out.
func packageOf(toml string) map[string]string {
	out := map[string]string{}
	within := false
	for line := range strings.Lines(toml) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			within = line == "[package]"
			continue
		}
		key, value, ok := strings.Cut(line, " = ")
		if !ok || !within {
			continue
		}
		if s, err := strconv.Unquote(value); err == nil && value[0] == '"' {
			out[key] = s
		}
	}
	return out
}
