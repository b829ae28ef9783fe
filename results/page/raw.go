package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"html/template"
	"path/filepath"
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/benchtext"
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

// raw are the samples of a recording as files. Those beyond room bytes are left out,
// and named.
func (s subject) raw(room int) []block {
	var files []download
	var left []string
	for _, f := range []struct {
		as, ending, kind, text string
		write                  func(*bytes.Buffer) error
	}{
		{"samples", ".csv", "text/csv", "every sample as CSV", func(b *bytes.Buffer) error { return view.CSV(b, s.file.File) }},
		{"bench", ".txt", "text/plain", "benchmark text, for benchstat", func(b *bytes.Buffer) error { return benchtext.Write(b, s.file.File) }},
	} {
		var b bytes.Buffer
		if err := f.write(&b); err != nil {
			left = append(left, fmt.Sprintf("There is no %s: %v", f.text, err))
			continue
		}
		packed := pack(b.Bytes())
		if len(packed) > room {
			left = append(left, fmt.Sprintf("The %s (%s) would make the page too large: `introgen show FILE --as %s` writes it", f.text, figures.Size(int64(b.Len())), f.as))
			continue
		}
		room -= len(packed)
		files = append(files, download{Text: fmt.Sprintf("%s (%s)", f.text, figures.Size(int64(b.Len()))), Name: fileName(s.name) + f.ending, Type: f.kind,
			Address: template.URL("data:application/gzip;base64," + packed)}) // letters, digits, + and / alone
	}
	out := []block{{Downloads: files}}
	if len(left) > 0 {
		out = append(out, block{List: sentences(left)})
	}
	return out
}

// pack is b packed with gzip, in base64. A bytes.Buffer takes all that is written.
func pack(b []byte) string {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(b)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(err) // the level is one that there is, and memory takes everything
	}
	return base64.StdEncoding.EncodeToString(out.Bytes())
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
