// Package trim takes out of a Metal library's source the kernels that are not used,
// and what only they used, so that a compiler has less to do. What is left stands
// as it stood, in the lines in which it stood, with its directives: conditions that
// the compiler decides are still the compiler's. What cannot be taken out safely
// stays.
package trim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/introgen/introgen/metalshim/msl"
)

// Result is a trimmed source.
type Result struct {
	Text    string
	Kernels []string // that are left, in the order of the source
	Gone    int      // kernels that were taken out
	Stays   []Stay   // what was not asked for and stays, in the order of the source
}

// Stay is text that could not be taken out.
type Stay struct {
	Line    int      // of the source, from 1
	Kernels []string // in it that were not asked for
	Why     string
}

// Trim is the source without the kernels that are not in keep; file names it in
// errors. Text that cannot be cut into declarations comes back as it is.
func Trim(file, text string, keep []string) (string, error) {
	r, err := Of(file, text, keep)
	if err != nil {
		return "", err
	}
	return r.Text, nil
}

// Of trims a source, and tells what stays and why. A name in keep that is none of the
// source's is an error.
func Of(file, text string, keep []string) (*Result, error) {
	o, err := msl.OutlineOf(text)
	if err != nil {
		return whole(file, text, keep, err)
	}
	t := newTrimmer(o, keep)
	if err := missing(file, keep, t.kernels()); err != nil {
		return nil, err
	}
	t.settle()
	return t.result(text), nil
}

// whole is a source that stays as it is.
func whole(file, text string, keep []string, why error) (*Result, error) {
	r := &Result{Text: text}
	l, err := msl.Read(file, text)
	if err != nil {
		r.Stays = []Stay{{Line: 1, Why: why.Error()}}
		return r, nil
	}
	rest := Stay{Line: 1, Why: why.Error()}
	for _, k := range l.Kernels {
		r.Kernels = append(r.Kernels, k.Name)
		if !slices.Contains(keep, k.Name) {
			rest.Kernels = append(rest.Kernels, k.Name)
		}
	}
	r.Stays = []Stay{rest}
	return r, missing(file, keep, r.Kernels)
}

// mostListed bounds how many kernels an error lists.
const mostListed = 100

// missing is an error where a name in keep is not in there.
func missing(file string, keep, there []string) error {
	for _, name := range keep {
		if slices.Contains(there, name) {
			continue
		}
		if len(there) == 0 {
			return fmt.Errorf("%s: it has no kernel %s, and no other: a source in Metal's language with `kernel void %s(…)` is wanted", file, name, name)
		}
		more := ""
		if n := len(there) - mostListed; n > 0 {
			there, more = there[:mostListed], fmt.Sprintf(" and %d more", n)
		}
		return fmt.Errorf("%s: it has no kernel %s: it has %s%s", file, name, strings.Join(there, ", "), more)
	}
	return nil
}
