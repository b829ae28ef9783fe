package results

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
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

// MetalPhase is what one phase of a round did on the device. Compile, Encode,
// Commit and Wait do not overlap; with Unattributed they make up Wall. GPU is
// the device's own time, which overlaps with all of them.
type MetalPhase struct {
	Round                                int
	Name                                 string
	Wall                                 time.Duration
	Compile, Encode, Commit, Wait, GPU   time.Duration
	Dispatches, Encoders, CommandBuffers int64
}

// Unattributed is the part of Wall that none of the parts explains.
func (p MetalPhase) Unattributed() time.Duration {
	return p.Wall - p.Compile - p.Encode - p.Commit - p.Wait
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

// WriteMetalTrace writes the tables at the end of a traced run.
func WriteMetalTrace(w io.Writer, t MetalTrace) error {
	libraries := newTable(w, "library", "source bytes", "kernels", "used", "compile ms", "cache")
	for _, l := range t.Libraries {
		libraries.Append(l.Name, l.SourceBytes, l.Kernels, l.Used, ms(l.Compile), l.Cache)
	}
	libSum, pipeSum := t.Sums()
	libraries.Footer("sum", "", "", "", ms(libSum), "")
	if err := libraries.Render(); err != nil {
		return err
	}
	pipelines := newTable(w, "library", "pipeline", "create ms", "cache")
	for _, p := range t.Pipelines {
		pipelines.Append(p.Library, p.Function, ms(p.Create), p.Cache)
	}
	pipelines.Footer("sum", "", ms(pipeSum), "")
	if err := pipelines.Render(); err != nil {
		return err
	}
	if lib, function, took := t.LongestChain(); lib != "" {
		if _, err := fmt.Fprintf(w, "longest chain: %s and %s, %s of %s ms: what would remain if all the rest ran beside it\n",
			lib, function, ms(took), ms(libSum+pipeSum)); err != nil {
			return err
		}
	}
	phases := newTable(w, "round", "phase", "wall ms", "compile", "encode", "commit", "wait", "unattr.", "GPU ms", "disp.", "enc.", "bufs")
	for _, p := range t.Phases {
		phases.Append(p.Round, p.Name, ms(p.Wall), ms(p.Compile), ms(p.Encode), ms(p.Commit), ms(p.Wait),
			ms(p.Unattributed()), ms(p.GPU), p.Dispatches, p.Encoders, p.CommandBuffers)
	}
	if err := phases.Render(); err != nil {
		return err
	}
	return writeKernels(w, t.Kernels)
}

func writeKernels(w io.Writer, kernels []KernelRow) error {
	if len(kernels) == 0 {
		return nil
	}
	var sum time.Duration
	for _, k := range kernels {
		sum += k.Time
	}
	rows := newTable(w, "kernel", "dispatches", "device ms", "share")
	for _, k := range kernels {
		rows.Append(k.Kernel, k.Dispatches, ms(k.Time), fmt.Sprintf("%.1f %%", 100*float64(k.Time)/float64(max(1, sum))))
	}
	return rows.Render()
}

// table collects rows; what is not text is written in the plainest way.
type table struct{ t *tablewriter.Table }

// newTable returns a table without lines between rows, numbers to the right.
func newTable(w io.Writer, header ...string) table {
	t := tablewriter.NewTable(w,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Settings: tw.Settings{Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off}, Lines: tw.Lines{ShowHeaderLine: tw.Off, ShowFooterLine: tw.Off}},
		})),
		tablewriter.WithConfig(tablewriter.Config{
			Header: tw.CellConfig{Formatting: tw.CellFormatting{AutoFormat: tw.Off}, Alignment: tw.CellAlignment{Global: tw.AlignLeft}, Padding: padding},
			Row:    tw.CellConfig{Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone}, Alignment: tw.CellAlignment{Global: tw.AlignLeft}, Padding: padding},
			Footer: tw.CellConfig{Formatting: tw.CellFormatting{AutoFormat: tw.Off}, Alignment: tw.CellAlignment{Global: tw.AlignLeft}, Padding: padding},
		}))
	t.Header(header)
	return table{t}
}

var padding = tw.CellPadding{Global: tw.Padding{Left: "", Right: "  ", Overwrite: true}}

func (t table) Append(cells ...any) { _ = t.t.Append(words(cells)) } // fails while streaming only

func (t table) Footer(cells ...any) { t.t.Footer(words(cells)) }

func (t table) Render() error { return t.t.Render() }

func words(cells []any) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		switch c := c.(type) {
		case string:
			out[i] = c
		case int:
			out[i] = strconv.Itoa(c)
		case int64:
			out[i] = strconv.FormatInt(c, 10)
		default:
			out[i] = fmt.Sprint(c)
		}
	}
	return out
}

// WriteDevice writes how long it took to have a device, as the experiment does.
func WriteDevice(w io.Writer, took time.Duration) error {
	_, err := fmt.Fprintf(w, "[metal] Device::new_metal %s ms\n", ms(took))
	return err
}
