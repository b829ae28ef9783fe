package kernel

import (
	"regexp"
	"strings"

	"github.com/introgen/introgen/metalshim/msl"
)

// Listing is what a file declares, and what became of it.
type Listing struct {
	File      string     `json:"file"`
	Headers   []string   `json:"headers,omitempty"`
	Kernels   []Kernel   `json:"kernels"`
	Constants []Constant `json:"constants"`
	// Unread is why the declarations could not be read, Failed why the library was not
	// made, both "" where all is well.
	Unread   string  `json:"unread,omitempty"`
	Failed   string  `json:"failed,omitempty"`
	NoFile   bool    `json:"no_file,omitempty"` // Unread is about the file itself
	Compiled bool    `json:"compiled,omitempty"`
	Seconds  float64 `json:"seconds,omitempty"` // that the library took
}

// Kernel is one function that can be made into a pipeline.
type Kernel struct {
	Name      string     `json:"name"`
	Function  string     `json:"function,omitempty"` // of which it is an instance
	Arguments []Argument `json:"arguments"`
	Pipeline  *Made      `json:"pipeline,omitempty"`
}

// Made is what is known of a pipeline, or why there is none.
type Made struct {
	MaxThreads        int     `json:"max_threads,omitempty"`
	Width             int     `json:"simdgroup_width,omitempty"`
	ThreadgroupMemory int     `json:"threadgroup_memory"` // bytes, static
	Bytes             int64   `json:"bytes,omitempty"`    // of its code
	Seconds           float64 `json:"seconds"`
	// Wants is a function constant without which there is no pipeline; it was tried
	// with zeros for all constants, and made if Failed is "".
	Wants  string `json:"wants,omitempty"`
	Failed string `json:"failed,omitempty"`
}

// Argument is one parameter of a kernel.
type Argument struct {
	Kind     string `json:"kind"`  // buffer, threadgroup, or the attribute's name
	Index    int    `json:"index"` // −1 where it has none
	Type     string `json:"type"`
	Name     string `json:"name"`
	Optional bool   `json:"optional,omitempty"` // there only where a function constant holds
}

// Constant is a function constant.
type Constant struct {
	Index int    `json:"index"`
	Name  string `json:"name"`
	Type  string `json:"type"`
}

// Unreadable is the listing of a file that Open does not open.
func Unreadable(path string, err error) Listing {
	return Listing{File: path, Kernels: []Kernel{}, Constants: []Constant{}, Unread: err.Error(), NoFile: true}
}

// List says what the source declares.
func (s *Source) List() Listing {
	l := Listing{File: s.Path, Headers: s.text.Files, Kernels: []Kernel{}, Constants: []Constant{}}
	read, err := s.Read()
	if err != nil {
		l.Unread = err.Error()
		return l
	}
	for _, k := range read.Kernels {
		l.Kernels = append(l.Kernels, kernelOf(k))
	}
	for _, c := range read.Constants {
		l.Constants = append(l.Constants, Constant{c.Index, c.Name, c.Type})
	}
	return l
}

func kernelOf(k msl.Kernel) Kernel {
	out := Kernel{Name: k.Name, Arguments: []Argument{}}
	if k.Function != k.Name {
		out.Function = k.Function
	}
	for _, p := range k.Params {
		typ, name := declared(p.Text)
		out.Arguments = append(out.Arguments, Argument{string(p.Kind), p.Index, typ, name, p.Optional})
	}
	return out
}

var declarator = regexp.MustCompile(`^(.*?)\b([A-Za-z_]\w*)((?:\s*\[[^\]]*\])*)$`)

// declared cuts a parameter into its type and its name.
func declared(text string) (typ, name string) {
	m := declarator.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil || strings.TrimSpace(m[1]) == "" {
		return text, ""
	}
	return strings.TrimSpace(strings.TrimSpace(m[1]) + strings.TrimSpace(m[3])), m[2]
}
