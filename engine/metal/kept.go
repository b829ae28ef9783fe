package metal

import (
	"maps"
	"slices"
	"sync"

	"github.com/introgen/introgen/engine/metal/forward"
)

// whole ends the name of a library that is compiled with all its kernels where it is
// else compiled with some: nobody had foreseen that another one is needed.
const whole = "\x00whole"

// kept are the kernels with which libraries are compiled; of a library without any
// that is all of them. Several goroutines may use it.
type kept struct {
	mu sync.Mutex
	by map[string][]string
}

// of are those of a library.
func (k *kept) of(library string) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.by[library]
}

// add has the libraries of the list compiled with these of their kernels. Of a
// library that has kernels by now they stay what they are: it may have been compiled.
func (k *kept) add(list []forward.Pipeline) {
	k.mu.Lock()
	defer k.mu.Unlock()
	more := map[string][]string{}
	for _, p := range list {
		if len(k.by[p.Library]) == 0 && !slices.Contains(more[p.Library], p.Function) {
			more[p.Library] = append(more[p.Library], p.Function)
		}
	}
	if k.by == nil {
		k.by = map[string][]string{}
	}
	maps.Copy(k.by, more)
}

// in is the pipeline of the library as that is compiled: with some kernels, or with
// all where the function is none of them.
func (k *kept) in(p forward.Pipeline) forward.Pipeline {
	if keep := k.of(p.Library); len(keep) > 0 && !slices.Contains(keep, p.Function) {
		p.Library += whole
	}
	return p
}
