// Package describe writes what a GGUF file holds, as text in the style of the
// experiment's listing and as JSON.
package describe

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/figures"
)

// Read is how long one reading of the header took.
type Read struct {
	IO   gguf.IO
	Time time.Duration
}

// TimeReads reads the header of the file once with each reader, first with the
// one named, and takes the times. Have the file opened before when they are to
// be compared, so that the first does not pay for a cold disk.
func TimeReads(path string, first gguf.IO) ([]Read, error) {
	others := slices.DeleteFunc([]gguf.IO{gguf.MMap, gguf.Buffered, gguf.FileIO}, func(io gguf.IO) bool { return io == first })
	var reads []Read
	for _, io := range slices.Insert(others, 0, first) {
		start := time.Now()
		f, err := gguf.Open(path, io)
		took := time.Since(start)
		if err != nil {
			return nil, err
		}
		reads = append(reads, Read{IO: io, Time: took})
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	return reads, nil
}

// Options says what is written beside the metadata.
type Options struct {
	Reads   []Read // a line for each
	Tensors bool   // the tensor table too
}

// Text writes a line for the file and for each of o.Reads, for a part of a split
// file and for each skipped tensor, then the metadata sorted by key, long arrays
// by their length only, then on demand the tensor table in the file's order.
func Text(w io.Writer, f *gguf.File, o Options) error {
	var b strings.Builder
	err := gguf.Fault(func() error {
		summary(&b, f, o.Reads)
		oddities(&b, f)
		keys(&b, f)
		return nil
	})
	if err != nil {
		return err
	}
	if o.Tensors {
		table(&b, f)
	}
	_, err = io.WriteString(w, b.String())
	return err
}

func summary(w io.Writer, f *gguf.File, reads []Read) {
	if len(reads) > 0 {
		fmt.Fprintf(w, "read via %s %s ms; ", reads[0].IO, figures.Milliseconds(reads[0].Time))
	}
	fmt.Fprintf(w, "file %d bytes; tensor data starts at %d; %d metadata keys; %d tensors\n",
		f.Size, f.DataOffset, f.KeyCount(), len(f.Tensors))
	for _, r := range reads[min(1, len(reads)):] {
		fmt.Fprintf(w, "read via %s %s ms (%d tensors)\n", r.IO, figures.Milliseconds(r.Time), len(f.Tensors))
	}
}

// oddities says what keeps a file, or a tensor of it, from being used.
func oddities(w io.Writer, f *gguf.File) {
	if part, of, err := f.Part(); err != nil {
		fmt.Fprintln(w, err)
	} else if of > 1 {
		fmt.Fprintf(w, "part %d of %d of a split file; what runs a model takes the first and reads the others beside it\n", part, of)
	}
	for i := range f.Skipped {
		fmt.Fprintf(w, "skipped: tensor %s, %s\n", plain(f.Skipped[i].Name), whySkipped(&f.Skipped[i]))
	}
}

func whySkipped(t *gguf.Tensor) string {
	if len(t.Dims) == 0 {
		return fmt.Sprintf("%v of no dimensions", t.Type)
	}
	return fmt.Sprintf("%v of shape %s, which has no elements", t.Type, t.Shape())
}

func keys(w io.Writer, f *gguf.File) {
	var lines []string
	for k, v := range f.Keys() {
		line := plain(k) + " = " + value(v)
		if listed(k, v) {
			line += ": " + strings.Trim(v.String(), "[]")
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	for _, l := range lines {
		fmt.Fprintf(w, "  %s\n", l)
	}
}

// maxListed is the length up to which an array's values are written: more layers
// than a model has.
const maxListed = 512

// listed says whether an array's values are written: those of numbers that may be
// a value for each layer. A tokenizer's arrays have an element for each token.
func listed(key string, v gguf.Value) bool {
	elem, ok := v.ElemKind()
	return ok && elem != gguf.KindString && elem != gguf.KindArray && v.Len() > 0 && v.Len() <= maxListed &&
		!strings.HasPrefix(key, "tokenizer.")
}

// plain returns a name as it is, or quoted when a terminal should not get it.
func plain(s string) string {
	if q := strconv.Quote(s); q != `"`+s+`"` {
		return q
	}
	return s
}

// value writes a value as the experiment's listing does: U32(9),
// String("llama"), F32(1e-5), array of 49152.
func value(v gguf.Value) string {
	if v.Kind() == gguf.KindArray {
		return fmt.Sprintf("array of %d", v.Len())
	}
	s := v.String()
	if str, ok := v.Str(); ok {
		s = strconv.Quote(str) // whole
	} else if x, ok := v.Float64(); ok {
		s = float(x, v.Kind())
	}
	return fmt.Sprintf("%v(%s)", v.Kind(), s)
}

// float writes x as Rust's {:?} does, which the experiment used: the shortest
// digits that give x back, with an exponent below 1e-4 and from 1e16 on, and
// with a point otherwise.
func float(x float64, kind gguf.Kind) string {
	size := 64
	if kind == gguf.KindFloat32 {
		size = 32
	}
	switch abs := math.Abs(x); {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	case abs != 0 && (abs < 1e-4 || abs >= 1e16):
		digits, exp, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, size), "e")
		n, _ := strconv.Atoi(exp) // FormatFloat wrote a number
		return digits + "e" + strconv.Itoa(n)
	}
	s := strconv.FormatFloat(x, 'f', -1, size)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// table writes the tensor directory and what each type adds up to.
func table(w io.Writer, f *gguf.File) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "tensor\ttype\tshape\toffset\tbytes")
	for i := range f.Tensors {
		x := &f.Tensors[i]
		fmt.Fprintf(t, "%s\t%v\t%s\t%d\t%d\n", plain(x.Name), x.Type, x.Shape(), x.Offset, x.Bytes)
	}
	t.Flush() // into a strings.Builder, which takes all
	sums := sumsOf(f)
	for _, typ := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(w, "%d tensors of %v, %d bytes\n", sums[typ].Tensors, typ, sums[typ].Bytes)
	}
}

// totals are what the tensors of one type add up to.
type totals struct {
	Tensors int   `json:"tensors"`
	Bytes   int64 `json:"bytes"`
}

func sumsOf(f *gguf.File) map[quant.Type]totals {
	sums := map[quant.Type]totals{}
	for _, t := range f.Tensors {
		s := sums[t.Type]
		sums[t.Type] = totals{s.Tensors + 1, s.Bytes + t.Bytes}
	}
	return sums
}

// text returns s as JSON can hold it: bytes that are not UTF-8 are written as
// \xNN, and ok is false.
func text(s string) (_ string, ok bool) {
	if utf8.ValidString(s) {
		return s, true
	}
	q := strconv.Quote(s)
	return q[1 : len(q)-1], false
}
