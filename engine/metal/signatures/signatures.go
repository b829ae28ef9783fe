// Package signatures says, before anything is compiled, whether a set of kernels
// fits what the plan launches: whether the functions are there, and whether
// their argument tables are those of the dispatches.
//
// It sees what sources declare, and whether a thread stores one element or
// more. Other ways to divide work, such as the rows that a threadgroup of a
// matrix kernel makes, do not show in a declaration.
package signatures

import (
	"fmt"
	"slices"
	"strings"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/msl"
)

// Difference is one thing in which a set and the plan do not agree.
type Difference struct {
	Library, Function string
	File              string // in which it was looked for
	Text              string
}

func (d Difference) String() string {
	return fmt.Sprintf("%s %s (%s): %s", d.Library, d.Function, d.File, d.Text)
}

// Error is the differences of a set that cannot be run.
type Error struct {
	Set         string
	Differences []Difference
}

func (e *Error) Error() string {
	lines := make([]string, len(e.Differences))
	for i, d := range e.Differences {
		lines[i] = d.String()
	}
	return fmt.Sprintf("kernels %s do not fit the dispatches, which are those of candle 0.11.0: %s", e.Set, strings.Join(lines, "; "))
}

// Check returns an *Error if the set does not fit what the plan of c could
// launch.
func Check(set *kernels.Set, c forward.Config) error {
	found, err := Differences(set, c)
	if err != nil || len(found) == 0 {
		return err
	}
	return &Error{set.String(), found}
}

// Differences lists what of the set does not fit, in the order in which the
// kernels would be needed. A source that cannot be read is not a difference: its
// compiler has the last word. The project's own kernels are the measure where a
// dispatch's bytes do not tell what they are.
//
// A set is judged by what its functions take, whoever wrote it. A function may
// leave out a value that it does not read where each of its buffers says its own
// index. Where the order of the arguments gives them, one that is missing is one
// that has moved.
func Differences(set *kernels.Set, c forward.Config) ([]Difference, error) {
	calls, err := forward.Calls(c)
	if err != nil {
		return nil, err
	}
	theirs, ours := reader{set: set}, reader{set: kernels.OwnSet()}
	var out []Difference
	for i := range calls {
		call := &calls[i]
		library, file, err := theirs.library(call.Library)
		if err != nil {
			return nil, err
		}
		if library == nil {
			continue
		}
		add := func(format string, args ...any) {
			out = append(out, Difference{call.Library, call.Function, file, fmt.Sprintf(format, args...)})
		}
		kernel, ok := library.Kernel(call.Function)
		if !ok {
			if names := strings.Join(library.Undecided, " and "); names != "" {
				add("there is no such function, where %s, which only a compiler knows, is taken for undefined", names)
				continue
			}
			add("there is no such function")
			continue
		}
		own := &msl.Kernel{}
		if l, _, err := ours.library(call.Library); err == nil && l != nil {
			if k, ok := l.Kernel(call.Function); ok {
				own = k
			}
		}
		table(call, kernel, own, add)
		grid(call, kernel, add)
		constants(call, library, add)
	}
	return out, nil
}

// reader reads each library of a set once.
type reader struct {
	set  *kernels.Set
	read map[string]*msl.Library
}

// library is nil where the source cannot be read.
func (r *reader) library(name string) (*msl.Library, string, error) {
	text, file, err := r.set.Library(name)
	if err != nil {
		return nil, "", err
	}
	l, done := r.read[name]
	if !done {
		if l, err = msl.Read(file, text); err != nil {
			l = nil
		}
		if r.read == nil {
			r.read = map[string]*msl.Library{}
		}
		r.read[name] = l
	}
	return l, file, nil
}

// table compares the arguments of a dispatch with a kernel's.
func table(call *forward.Dispatch, kernel, own *msl.Kernel, add func(string, ...any)) {
	passed := map[int]bool{}
	for i := range call.Args {
		a := &call.Args[i]
		passed[a.Index] = true
		p, ok := buffer(kernel, a.Index)
		if !ok {
			if a.Buf != 0 || !bound(kernel) {
				add("argument %d is passed, and it has none", a.Index)
			}
			continue
		}
		measure, _ := buffer(own, a.Index)
		if why := misfit(a, declared(p.Text), declared(measure.Text)); why != "" {
			add("argument %d is `%s`; %s", a.Index, p.Text, why)
		}
	}
	for _, p := range kernel.Params {
		switch {
		case p.Kind == msl.Buffer && !passed[p.Index] && !p.Optional && !slices.Contains(call.Absent, p.Index):
			add("argument %d, `%s`, is not passed", p.Index, p.Text)
		case p.Kind == msl.Threadgroup && call.ThreadgroupBytes == 0:
			add("threadgroup memory %d, `%s`, is not set", p.Index, p.Text)
		}
	}
}

// bound says that the source gives the index of each of a kernel's buffers.
func bound(k *msl.Kernel) bool {
	return !slices.ContainsFunc(k.Params, func(p msl.Param) bool { return p.Kind == msl.Buffer && !p.Bound })
}

func buffer(k *msl.Kernel, index int) (msl.Param, bool) {
	for _, p := range k.Params {
		if p.Kind == msl.Buffer && p.Index == index {
			return p, true
		}
	}
	return msl.Param{}, false
}

// misfit says why an argument cannot be passed to the parameter p; measure is
// the project's own parameter.
func misfit(a *forward.Arg, p, measure declaration) string {
	if a.Buf != 0 {
		switch {
		case !p.pointer && !p.device:
			return "a buffer is passed"
		case a.Out && p.constant:
			return "the result is to be written there"
		case p.other(measure):
			return fmt.Sprintf("elements of type %s are passed", measure.base)
		}
		return ""
	}
	size, wanted := sizes[p.base], sizes[measure.base]
	switch {
	case p.pointer && !p.constant:
		return fmt.Sprintf("%d bytes are passed, which cannot be written", len(a.Data))
	case !p.pointer && measure.pointer:
		return "an array is passed"
	case p.pointer && measure.base != "" && !measure.pointer && (p.device || size > 0):
		return "a value is passed"
	case p.pointer && size > 0 && wanted > 0 && size != wanted:
		return fmt.Sprintf("elements of %d bytes are passed", wanted)
	case !p.pointer && size > len(a.Data):
		return fmt.Sprintf("%d bytes are passed", len(a.Data))
	case size > 0 && wanted > 0 && floating[p.base] != floating[measure.base]:
		return fmt.Sprintf("a value of type %s is passed", measure.base)
	}
	return ""
}

// grid compares how threads are laid out and what each of them does.
func grid(call *forward.Dispatch, kernel *msl.Kernel, add func(string, ...any)) {
	items, pairs, plane := call.Extent.Shape()
	if pairs && kernel.Single {
		add("a thread stores one element; a thread is launched for each two")
	}
	for _, p := range kernel.Params {
		if p.Kind != "thread_position_in_grid" {
			continue
		}
		vector := strings.HasSuffix(declared(p.Text).base, "2") || strings.HasSuffix(declared(p.Text).base, "3")
		switch {
		case plane && !vector:
			add("its threads are numbered by `%s`; a grid of rows and columns is launched", p.Text)
		case (items || pairs) && vector:
			add("its threads are numbered by `%s`; a row of threads is launched", p.Text)
		}
	}
}

// constants compares the types of function constants. One that the library does
// not have changes nothing: Metal passes over it.
func constants(call *forward.Dispatch, library *msl.Library, add func(string, ...any)) {
	for _, c := range call.Constants {
		for _, f := range library.Constants {
			if f.Index == c.Index && c.Type == metalshim.Bool && f.Type != "bool" {
				add("function constant %d is `%s %s`; a bool is passed", f.Index, f.Type, f.Name)
			}
		}
	}
}
