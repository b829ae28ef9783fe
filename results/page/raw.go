package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/benchtext"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/view"
)

// download is a file that lies in the page.
type download struct {
	Text string // of the link
	Name string // of the file
	Type string // its media type
	// Address holds the file itself, packed with gzip: the page's script unpacks it,
	// and without a script the packed file is what a reader gets.
	Address template.URL
}

// raw is a view of a recording as a file in the page.
type raw struct {
	download
	as     string // what `introgen show --as` calls it
	size   int64  // of the file that a reader gets
	packed string // base64 of it, packed with gzip
	err    error  // why there is none
}

// views are those of the raw samples.
var views = []struct {
	as, ending, kind, text string
	write                  func(io.Writer, *recording.File) error
}{
	{"samples", ".csv", "text/csv", "every sample as CSV", view.CSV},
	{"bench", ".txt", "text/plain", "benchmark text, for benchstat", benchtext.Write},
}

// errLarge ends a view that is longer than a page has room for.
var errLarge = errors.New("it would make the page too large")

// raws are the views, packed.
func (s subject) raws() []raw {
	out := make([]raw, len(views))
	for i, v := range views {
		r := raw{as: v.as, download: download{Text: v.text, Name: fileName(s.name) + v.ending, Type: v.kind}}
		var b bounded
		z := gzip.NewWriter(&b)
		c := counter{w: z}
		r.err = errors.Join(v.write(&c, s.file.File), z.Close())
		r.size, r.packed = c.n, base64.StdEncoding.EncodeToString(b.Bytes())
		out[i] = r
	}
	return out
}

// bounded keeps what fits a page.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > MaxBytes {
		return 0, errLarge
	}
	return b.Buffer.Write(p)
}

// counter counts what goes through it, and lets no more through than anybody reads.
type counter struct {
	w io.Writer
	n int64
}

const mostRaw = 64 << 20

func (c *counter) Write(p []byte) (int, error) {
	if c.n += int64(len(p)); c.n > mostRaw {
		return 0, errLarge
	}
	return c.w.Write(p)
}

// bytes are at most those of a page that has it: base64 as html/template writes it into
// an attribute, and the link around it.
func (r raw) bytes() int {
	const plus, link = len("&#43;"), 1000
	return len(r.packed) + (plus-1)*strings.Count(r.packed, "+") + link
}

// files are the raw samples of a recording as far as they take no more than room
// bytes. Those that are left out are named.
func files(all []raw, room int) []block {
	var in []download
	var left []string
	for _, r := range all {
		switch {
		case r.err != nil && !errors.Is(r.err, errLarge):
			left = append(left, fmt.Sprintf("There is no %s: %v", r.Text, r.err))
		case r.err != nil, r.bytes() > room:
			left = append(left, fmt.Sprintf("The %s would make the page too large: `introgen show FILE --as %s` writes it", r.Text, r.as))
		default:
			room -= r.bytes()
			r.Text = fmt.Sprintf("%s (%s)", r.Text, figures.Size(r.size))
			r.Address = template.URL("data:application/gzip;base64," + r.packed) // letters, digits, + and / alone
			in = append(in, r.download)
		}
	}
	out := []block{{Downloads: in}}
	if len(left) > 0 {
		out = append(out, block{List: sentences(left)})
	}
	return out
}

// fileName is a recording's name as the begin of a file's: letters, digits and what
// joins them.
func fileName(name string) string {
	name = strings.TrimSuffix(filepath.Base(filepath.ToSlash(name)), filepath.Ext(name))
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, cut(name, 60))
	if strings.Trim(name, "-") == "" {
		return "recording"
	}
	return name
}
