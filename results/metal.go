package results

import (
	"fmt"
	"io"
	"time"
)

// LibraryRow is what one Metal library cost.
type LibraryRow struct {
	Name        string
	SourceBytes int
	Kernels     int // in it
	Used        int // kernels that pipelines were made of
	Compile     time.Duration
	Cache       string // "hit", "miss", "off", or "" where nobody can tell
}

// PipelineRow is what one pipeline cost.
type PipelineRow struct {
	Library, Function string
	Create            time.Duration
	Cache             string
}

// MetalPhase is what one phase of a round did on the device. Compile, Weights,
// Encode, Commit and Wait do not overlap; with Unattributed they make up Wall. GPU is
// the device's own time, which overlaps with all of them.
type MetalPhase struct {
	Round                                int
	Name                                 string
	Step                                 int // a decode step's number from 1; 0 of another phase
	Wall                                 time.Duration
	Compile, Encode, Commit, Wait, GPU   time.Duration
	Weights                              time.Duration // in which tensors were brought to the device
	Dispatches, Encoders, CommandBuffers int64
}

// Unattributed is the part of Wall that none of the parts explains.
func (p MetalPhase) Unattributed() time.Duration {
	return p.Wall - p.Compile - p.Weights - p.Encode - p.Commit - p.Wait
}

// KernelRow is the device's time in one kernel, over the whole run.
type KernelRow struct {
	Kernel     string
	Dispatches int64
	Time       time.Duration
}

// MetalTrace is what the table at the end of a traced run shows.
type MetalTrace struct {
	Libraries []LibraryRow  // in the order in which they were first needed
	Pipelines []PipelineRow // likewise
	Phases    []MetalPhase
	Kernels   []KernelRow // the longest first; empty where the driver cannot tell
	Lost      int         // spans of the run that are missing: sums are of what is there
}

// Sums adds up the libraries' and the pipelines' times.
func (t MetalTrace) Sums() (libraries, pipelines time.Duration) {
	for _, l := range t.Libraries {
		libraries += l.Compile
	}
	for _, p := range t.Pipelines {
		pipelines += p.Create
	}
	return libraries, pipelines
}

// LongestChain is the library whose own time and that of its slowest pipeline
// add up to the most: what would be left if everything that does not need
// each other were compiled at once.
func (t MetalTrace) LongestChain() (library, function string, took time.Duration) {
	for _, l := range t.Libraries {
		chain, slowest := l.Compile, PipelineRow{}
		for _, p := range t.Pipelines {
			if p.Library == l.Name && p.Create >= slowest.Create {
				slowest = p
			}
		}
		if chain += slowest.Create; chain > took {
			library, function, took = l.Name, slowest.Function, chain
		}
	}
	return library, function, took
}

// WriteLibrary writes the line of one library as the experiment's trace does.
func WriteLibrary(w io.Writer, name string, took time.Duration) error {
	_, err := fmt.Fprintf(w, "LIB  %s %s ms\n", name, ms(took))
	return err
}

// WritePipeline writes the line of one pipeline; name is "library function".
func WritePipeline(w io.Writer, name string, took time.Duration) error {
	_, err := fmt.Fprintf(w, "PIPE %s %s ms\n", name, ms(took))
	return err
}

// WriteDevice writes how long it took to have a device, as the experiment does.
func WriteDevice(w io.Writer, took time.Duration) error {
	_, err := fmt.Fprintf(w, "[metal] Device::new_metal %s ms\n", ms(took))
	return err
}
