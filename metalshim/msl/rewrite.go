package msl

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Kind says what a kernel's parameter is bound to.
type Kind string

// Bindings of parameters. The others are the names of MSL's attributes, such
// as "thread_position_in_grid".
const (
	Buffer      Kind = "buffer"
	Threadgroup Kind = "threadgroup"
)

// builtins are the attributes that bind a parameter to a value of the grid,
// with the number that the standard library header has for them
// (msl_k in kernel.h).
var builtins = map[string]string{
	"thread_position_in_grid":             "TPIG",
	"threadgroup_position_in_grid":        "TGPIG",
	"thread_position_in_threadgroup":      "TPITG",
	"threads_per_threadgroup":             "TPTG",
	"dispatch_threads_per_threadgroup":    "DTPTG",
	"threadgroups_per_grid":               "TGPG",
	"threads_per_grid":                    "TPG",
	"grid_size":                           "TPG", // of the grid, as no region of stage_in is set
	"grid_origin":                         "ORIGIN",
	"thread_index_in_threadgroup":         "TIITG",
	"thread_index_in_simdgroup":           "TIISG",
	"simdgroup_index_in_threadgroup":      "SGIITG",
	"simdgroups_per_threadgroup":          "SGPTG",
	"dispatch_simdgroups_per_threadgroup": "DSGPTG",
	"threads_per_simdgroup":               "TPSG",
	"thread_execution_width":              "TPSG",
	"thread_index_in_quadgroup":           "TIIQG",
	"quadgroup_index_in_threadgroup":      "QGIITG",
	"quadgroups_per_threadgroup":          "QGPTG",
}

// Param is one parameter of a kernel.
type Param struct {
	Kind  Kind
	Index int    // of the buffer or the threadgroup memory, else −1
	Text  string // type and name as written, attributes left out
	// Optional says that the parameter is there only where a function constant
	// holds.
	Optional bool `json:",omitempty"`
	// Bound says that the source gives the index; else the order does.
	Bound bool `json:",omitempty"`
}

// Kernel is one entry of a library: a function that can be made into a pipeline.
type Kernel struct {
	Name     string // the name the host asks for
	Function string // the function of the source, of which it may be an instance
	Symbol   string // the C function that runs one thread of it
	Limited  bool   // a C function named Symbol + "_limit" tells its max_total_threads_per_threadgroup
	Params   []Param
	// Single says, of what Read has read, that a thread stores one element: it
	// needs as many threads as there are elements.
	Single bool `json:"-"`
}

// FunctionConstant is a constant that the host supplies.
type FunctionConstant struct {
	Index int
	Name  string
	Type  string
}

// Library is what a source declares.
type Library struct {
	Kernels   []Kernel // in the order of the source
	Constants []FunctionConstant
	// Others are functions that the library has and that are no kernels.
	Others []Function `json:",omitempty"`
	// Undecided are names in conditions that only a compiler knows. Read has taken
	// them for names without a meaning.
	Undecided []string `json:",omitempty"`
}

// Kernel finds a kernel by its name.
func (l *Library) Kernel(name string) (*Kernel, bool) {
	i := slices.IndexFunc(l.Kernels, func(k Kernel) bool { return k.Name == name })
	if i < 0 {
		return nil, false
	}
	return &l.Kernels[i], true
}

// Error is a construct that the rewriter cannot read.
type Error struct {
	File   string
	Line   int
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason) }

// Rewrite reads the output of `clang -E` and writes C++, to be compiled behind
// the standard library header. Line markers are kept, so that clang's diagnostics
// name the lines of the original file.
func Rewrite(preprocessed string) (cxx string, l *Library, err error) {
	tokens, rest := lex(preprocessed)
	r, err := read(tokens)
	if err != nil {
		return "", nil, err
	}
	if err := r.dropDuplicates(); err != nil {
		return "", nil, err
	}
	r.limits()
	return r.text(rest), r.library(), nil
}

// read reads the declarations in preprocessed text, and rewrites them.
func read(tokens []token) (*rewriter, error) {
	r := &rewriter{tok: tokens, out: make([]string, len(tokens)), drop: make([]bool, len(tokens)),
		functions: map[string][]*kernelFunction{}, constants: map[string]FunctionConstant{}, aliases: map[string]bool{},
		maybe: map[string]bool{}, classes: map[string]bool{}, values: map[string]bool{}, after: map[int]string{}}
	r.pair()
	for i, t := range r.tok {
		r.out[i] = t.text
	}
	r.names()
	r.scopes()
	r.vectorParameters()
	r.members()
	if err := r.run(); err != nil {
		return nil, err
	}
	return r, r.resolve()
}

type rewriter struct {
	tok  []token
	out  []string // what stands in the token's place
	drop []bool   // the token and its white space vanish, save line breaks
	ends []int32  // of brackets

	in     []scope        // where each token stands
	spaces map[int]string // the namespace that a token stands in, as "a::b::"

	functions map[string][]*kernelFunction // by name
	instances []instance
	others    []Function
	using     bool // there is a using directive
	constants map[string]FunctionConstant
	order     []FunctionConstant
	aliases   map[string]bool // names that stand for a vector type
	maybe     map[string]bool // and those that may, in some instance of a template
	classes   map[string]bool // names of structs and classes
	values    map[string]bool // parameters of templates that are no types, and constants
	after     map[int]string  // what follows a token
	numbers   map[string]number64
	lists     map[string][][]string // by functions' names, their parameters' vector types
}

func (r *rewriter) at(i int) string {
	if i < 0 || i >= len(r.tok) {
		return ""
	}
	return r.tok[i].text
}

func (r *rewriter) blank(from, to int) {
	for i := from; i < to && i < len(r.out); i++ {
		r.out[i] = ""
	}
}

// source is the text of tokens from..to as it now stands, in one line.
func (r *rewriter) source(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		if i > from && r.tok[i].space != "" {
			b.WriteByte(' ')
		}
		b.WriteString(r.out[i])
	}
	return strings.TrimSpace(b.String())
}

var lineMarker = regexp.MustCompile(`(?m)^[ \t]*# (\d+) "((?:[^"\\]|\\.)*)".*$`)

// fail is an error at token at, placed in the original file.
func (r *rewriter) fail(at int, format string, args ...any) error {
	file, line := "", 1
	for i := 0; i <= at && i < len(r.tok); i++ {
		space := r.tok[i].space
		if marks := lineMarker.FindAllStringSubmatchIndex(space, -1); marks != nil {
			m := marks[len(marks)-1]
			line, _ = strconv.Atoi(space[m[2]:m[3]])
			file = space[m[4]:m[5]]
			line += strings.Count(space[m[1]:], "\n") - 1
			continue
		}
		line += strings.Count(space, "\n")
	}
	return &Error{file, line, fmt.Sprintf(format, args...)}
}

// pair finds the closing bracket of every opening one, and the other way round. It
// does not look at which kind closes.
func (r *rewriter) pair() {
	r.ends = make([]int32, len(r.tok))
	var open []int
	for i, t := range r.tok {
		switch t.text {
		case "(", "[", "{":
			r.ends[i] = -1
			open = append(open, i)
		case ")", "]", "}":
			r.ends[i] = -1
			if n := len(open); n > 0 {
				r.ends[open[n-1]], r.ends[i] = int32(i), int32(open[n-1])
				open = open[:n-1]
			}
		}
	}
}

// close is the index of the bracket that goes with the one at i, or −1. Angle
// brackets are not counted.
func (r *rewriter) close(i int) int { return int(r.ends[i]) }

// longestList bounds the search for the end of a template's list, in tokens.
const longestList = 1 << 12

// closeAngle is the index of the '>' that closes the '<' at i, or −1.
// Brackets in between shield comparisons.
func (r *rewriter) closeAngle(i int) int {
	depth := 0
	for last := min(len(r.tok), i+longestList); i < last; i++ {
		switch r.tok[i].text {
		case "(", "[", "{":
			if i = r.close(i); i < 0 {
				return -1
			}
		case "<":
			if depth == 0 || !r.less(i) {
				depth++
			}
		case ">":
			if depth--; depth == 0 {
				return i
			}
		case ";":
			return -1
		}
	}
	return -1
}

// less says whether the '<' at i compares numbers: what stands before it begins no
// template's list.
func (r *rewriter) less(i int) bool {
	p := token{text: r.at(i - 1)}
	return p.text == ")" || p.text == "]" || p.word() && !p.name() || r.values[p.text]
}

// names notes the names of classes, and those of numbers, which no list of a
// template's arguments follows.
func (r *rewriter) names() {
	for i := range r.tok {
		switch t := r.at(i); {
		case t == "struct" || t == "class" || t == "union":
			r.classes[r.at(i+1)] = true
		case t == "bfloat":
			// C++ has no conversion between the two kinds of 16 bits.
			r.maybe["bfloat"], r.maybe["half"] = true, true
		case t == "constexpr":
			for k := i + 1; k < min(i+8, len(r.tok)) && r.at(k) != ";"; k++ {
				if r.at(k) == "=" && castType(r.at(k-2)) {
					r.values[r.at(k-1)] = true
				}
			}
		case castType(t) && i+1 < len(r.tok) && r.tok[i+1].name() && (r.at(i-1) == "<" || r.at(i-1) == ","):
			// of a template: among a function's parameters no '<' has opened
			if s := r.at(i + 2); s == "," || s == ">" || s == "=" {
				r.values[r.at(i+1)] = r.values[r.at(i+1)] || r.templated(i)
			}
		}
	}
}

// templated says whether token i stands in a list of a template's parameters.
func (r *rewriter) templated(i int) bool {
	for k := i - 1; k >= max(0, i-longestList); k-- {
		switch r.at(k) {
		case ")", "]":
			if k = r.close(k); k < 0 {
				return false
			}
		case "(", "{", "}", ";":
			return false
		case "template":
			return r.at(k+1) == "<"
		}
	}
	return false
}

// number writes a floating-point number as C++ has it: of type float without a
// suffix, and of type half or bfloat with h or bf.
func number(text string) string {
	hex := strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X")
	if hex && !strings.ContainsAny(text, "pP") {
		return text
	}
	for _, suffix := range []string{"bf", "BF", "h", "H"} {
		digits, ok := strings.CutSuffix(text, suffix)
		switch {
		case !ok:
		case suffix == "h" || suffix == "H":
			return "half(" + digits + ")"
		default:
			return "bfloat(" + digits + ")"
		}
	}
	if !strings.ContainsAny(text, ".pP") && (hex || !strings.ContainsAny(text, "eE")) {
		return text
	}
	if last := text[len(text)-1]; digit(last) || last == '.' {
		return text + "f"
	}
	return text
}

// addressSpaces are what C++ has in their places.
var addressSpaces = map[string]string{"device": "", "thread": "", "threadgroup": "", "constant": "const"}

// pragma stands in the preprocessed text for a pragma whose words the preprocessor
// was to expand: pragma(unroll(4)).
const pragma = "__msl_pragma__"

// static makes a kernel, whose word or attribute is token i, local to the text, so
// that the optimizer drops it once it is part of its entry.
func (r *rewriter) static(i int) {
	r.out[i] = "static"
	for k := i - 1; k >= 0 && r.at(k) != ";" && r.at(k) != "}" && r.at(k) != "{"; k-- {
		switch r.at(k) {
		case "static":
			r.out[i] = ""
		case "extern":
			r.blank(k, k+1)
			if strings.HasPrefix(r.at(k+1), `"`) {
				r.blank(k+1, k+2)
			}
		}
	}
}

func (r *rewriter) run() error {
	pending := head{}
	for i := 0; i < len(r.tok); {
		if r.out[i] == "" { // read already
			i++
			continue
		}
		t := r.tok[i].text
		qualifier, isSpace := addressSpaces[t]
		switch {
		case t == "template":
			next, err := r.template(i, &pending)
			if err != nil {
				return err
			}
			i = next
			continue
		case t == "[":
			if list, end, ok := r.list(i); ok {
				next, err := r.attributes(i, list, end, &pending)
				if err != nil {
					return err
				}
				i = next
				continue
			}
		case t == "kernel":
			r.static(i)
			if err := r.kernel(i+1, &pending); err != nil {
				return err
			}
		case t == ";" || t == "{" || t == "}":
			pending = head{}
		case r.in[i] == outside && slices.Contains(stages, t):
			if next := r.stage(i, t, &pending); next > i {
				i = next
				continue
			}
		case t == "coherent" && (r.at(i+1) == "(" || addressSpace(r.at(i+1)) || r.at(i+1) == "volatile" || r.at(i+1) == "const"):
			if e := i + 1; r.at(e) == "(" {
				r.blank(e, r.close(e)+1)
			}
			r.out[i] = ""
		case t == pragma && r.at(i+1) == "(" && r.close(i+1) > 0:
			e := r.close(i + 1)
			text := r.source(i+2, e)
			r.blank(i, e+1)
			r.out[i] = "_Pragma(" + strconv.Quote(text) + ")"
			i = e + 1
			continue
		case digit(t[0]) || t[0] == '.' && len(t) > 1 && digit(t[1]):
			r.out[i] = number(t)
		case isSpace:
			if r.out[i] = qualifier; r.ofConstructor(i) {
				r.out[i] = ""
			}
			if t == "threadgroup" {
				if err := r.threadgroupVariable(i); err != nil {
					return err
				}
			}
		case t == "typedef" || t == "using":
			r.using = r.using || t == "using" && r.at(i+1) == "namespace"
			r.alias(i)
		case t == "is_function_constant_defined" && r.at(i+1) == "(":
			if end := r.close(i + 1); end > 0 {
				if c, ok := r.constants[r.at(end-1)]; ok {
					r.blank(i, i+2)
					r.out[end-1], r.out[end] = fmt.Sprintf("msl_fcd_%d", c.Index), ""
					i = end + 1
					continue
				}
			}
		case t == "simd" && (r.at(i+1) == "::" || r.at(i-1) == "namespace"):
			r.out[i] = "msl_simd" // see <simd/simd.h> of the standard library
		case t == "static_cast":
			r.out[i] = "::metal::msl_static_cast"
			if r.at(i-1) == "::" {
				r.out[i] = "msl_static_cast"
			}
			if e := r.closeAngle(i + 1); e > 0 && r.at(e+1) == "(" {
				r.boolVectors(e + 1)
			}
		case t == "auto" && r.in[i] == inBody && r.at(i+2) == "=":
			r.deduced(i + 3)
		case t == "vec" || t == "typename" || vectorNames[t] || r.aliases[t] || r.maybe[t]:
			r.vectorCast(i)
		case r.in[i] == inBody && r.tok[i].name():
			r.called(i)
		}
		i++
	}
	return nil
}
