package remedy

import "slices"

// The keys of remedies.
const (
	Concurrent = "concurrent"
	Early      = "early"
	Behind     = "behind"
	Trim       = "trim"
	Split      = "split"
	Join       = "join"
	Once       = "once"
	Unused     = "unused"
	Archive    = "archive"
	Metallib   = "metallib"
	WarmUp     = "warmup"
	Map        = "map"
	PerBuffer  = "per-buffer"
	Tokenizer  = "tokenizer"
)

// Keys are all of them, in the order in which they are looked at.
var Keys = []string{Concurrent, Early, Behind, Trim, Split, Join, Once, Unused, Archive, Metallib, WarmUp, Map, PerBuffer, Tokenizer}

// What stands in Arguments for the files of a run.
const (
	File = "FILE" // an archive
	Plan = "PLAN" // of a warm-up
)

// flags are what introgen's own engine takes to run with a remedy.
var flags = map[string][]string{
	Concurrent: {"--compile", "concurrent"},
	Early:      {"--compile", "early"},
	Trim:       {"--compile", "trim"},
	Archive:    {"--archive", File},
	WarmUp:     {"--warmup", Plan},
	Map:        {"--weights", "map"},
	PerBuffer:  {"--commands-per-buffer", "50"},
	Tokenizer:  {"--tokenizer", "go"},
}

// Arguments are what `introgen metal` takes to run with the remedies of the keys; nil
// where there is one that its engine does not have.
func Arguments(keys ...string) []string {
	var out []string
	compile := ""
	for _, k := range keys {
		f, ok := flags[k]
		switch {
		case !ok:
			return nil
		case f[0] == "--compile" && compile != "":
			compile += "," + f[1]
		case f[0] == "--compile":
			compile = f[1]
		default:
			out = append(out, f...)
		}
	}
	if compile != "" {
		out = append([]string{"--compile", order(compile)}, out...)
	}
	return out
}

// order puts trim last, as --compile wants it.
func order(compile string) string {
	for _, when := range []string{Concurrent, Early} {
		if compile == Trim+","+when {
			return when + "," + Trim
		}
	}
	return compile
}

// Installs says whether the remedy is work that was done before the start.
func Installs(key string) bool { return slices.Contains([]string{Archive, Metallib, WarmUp}, key) }
