package benchtext

import "strings"

// Kind is what a sample is of, as far as its name says.
type Kind int

// The kinds of samples, in the order in which people want to see them.
const (
	Phases      Kind = iota // of a process and its first round, and all of other programs
	LaterRounds             // the same of a process's later rounds
	Libraries               // compiled, or taken from a cache
	Pipelines
)

// What the names of libraries and pipelines are made of, besides the words.
const (
	libraryName  = "Lib/lib="
	pipelineName = "Pipe/lib="
	functionPart = "/pipe="
)

// KindOf is the kind of the samples of a name, and what of the name tells them
// from others of the kind. Names come from texts of the format: this is the
// reverse of what lines makes.
func KindOf(name string) (k Kind, short string) {
	switch {
	case strings.HasPrefix(name, libraryName):
		return Libraries, name[len(libraryName):]
	case strings.HasPrefix(name, pipelineName):
		_, function, _ := strings.Cut(name, functionPart)
		return Pipelines, function
	case strings.Contains(name, LaterRound):
		return LaterRounds, strings.Replace(name, LaterRound, "", 1)
	}
	return Phases, name
}
