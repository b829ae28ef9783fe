package compileplan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/introgen/introgen/system/files"
)

// Limits of what a plan holds: far above what any program compiles, and low enough
// that a hostile one takes neither memory nor time.
const (
	maxBytes      = 16 << 20
	mostLibraries = 10_000
	mostPipelines = 100_000
	mostConstants = 1_000
	longestName   = 4096 // of libraries, functions and constants, in bytes
	longestText   = 200  // of what is only read by people, in characters
	mostTime      = 1 << 53
)

// Write writes the plan as JSON.
func (p *Plan) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(p)
}

// Read reads a plan. A key that is not known, and whatever contradicts itself, is an
// error.
func Read(r io.Reader) (*Plan, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxBytes {
		return nil, fmt.Errorf("more than %d bytes: a compile plan has less", maxBytes)
	}
	// A newer plan is refused as such, and not for the keys that it has more.
	var first struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	err = json.NewDecoder(bytes.NewReader(b)).Decode(&first)
	switch {
	case err == nil && first.Format != Format || err != nil && !bytes.HasPrefix(bytes.TrimSpace(b[:min(len(b), 1000)]), []byte("{")):
		return nil, errors.New("it is no compile plan: `introgen remedy --plan FILE` writes one")
	case err != nil:
		return nil, fmt.Errorf("no compile plan: %w", err)
	case first.Version < 1 || first.Version > Version:
		return nil, fmt.Errorf("a compile plan of version %d: 1 to %d are known; a newer introgen reads it", first.Version, Version)
	}
	p := &Plan{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, fmt.Errorf("compile plan: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("compile plan: something stands behind its end")
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("compile plan: %w", err)
	}
	return p, nil
}

// check refuses what contradicts itself, so that no reader has to look out for it.
func (p *Plan) check() error {
	if p.Digest != "" && !files.IsSHA256(p.Digest) {
		return fmt.Errorf("kernels_sha256 %q is no SHA-256 in lower-case hex", p.Digest)
	}
	if len(p.Libraries) == 0 || len(p.Libraries) > mostLibraries {
		return fmt.Errorf("%d libraries: 1 to %d are allowed", len(p.Libraries), mostLibraries)
	}
	n := p.Pipelines()
	if n > mostPipelines || len(p.Left) > mostPipelines {
		return fmt.Errorf("%d pipelines, and %d left out: at most %d are allowed", n, len(p.Left), mostPipelines)
	}
	known, needed := map[string]bool{}, make([]bool, n)
	var took int64
	for i, l := range p.Libraries {
		if err := checkName("library", l.Name); err != nil {
			return fmt.Errorf("library %d: %w", i+1, err)
		}
		switch {
		case known[l.Name]:
			return fmt.Errorf("library %q stands there twice", l.Name)
		case l.SourceBytes < 0 || l.Nanoseconds < 0 || l.Nanoseconds > mostTime:
			return fmt.Errorf("library %q has %d bytes of source and took %d ns: no negative number is wanted, and none above %d", l.Name, l.SourceBytes, l.Nanoseconds, int64(mostTime))
		case l.Digest != "" && !files.IsSHA256(l.Digest):
			return fmt.Errorf("library %q: sha256 %q is no SHA-256 in lower-case hex", l.Name, l.Digest)
		}
		known[l.Name] = true
		if err := l.check(needed); err != nil {
			return fmt.Errorf("library %q: %w", l.Name, err)
		}
		took += l.Nanoseconds
		for _, x := range l.Pipelines {
			if took += x.Nanoseconds; took > mostTime {
				break // before it overflows
			}
		}
		if took > mostTime {
			return fmt.Errorf("up to library %q all together took more than %d ns, which no plan does", l.Name, int64(mostTime))
		}
	}
	return nil
}

// check looks at the pipelines of a library, and ticks off their places in the order.
func (l Library) check(needed []bool) error {
	seen := map[string]bool{}
	for i, x := range l.Pipelines {
		if err := checkName("function", x.Function); err != nil {
			return fmt.Errorf("pipeline %d: %w", i+1, err)
		}
		if len(x.Constants) > mostConstants {
			return fmt.Errorf("%q has %d constants: at most %d are allowed", x.Function, len(x.Constants), mostConstants)
		}
		key := x.Function
		for k, c := range x.Constants {
			if _, err := c.Bits(); err != nil {
				return fmt.Errorf("%q: %w", x.Function, err)
			}
			named := c.Name != ""
			if named && (!isName(c.Name) || len(c.Name) > longestName || c.Index != 0) || !named && (c.Index < 0 || c.Index > 65535) {
				return fmt.Errorf("%q: constant %d of the name %q: an index from 0 to 65535, or a name of MSL and the index 0, is wanted", x.Function, c.Index, c.Name)
			}
			if slices.ContainsFunc(x.Constants[:k], func(o Constant) bool { return o.Index == c.Index && o.Name == c.Name }) {
				return fmt.Errorf("%q: constant %s stands there twice", x.Function, c.where())
			}
			key += " " + c.String()
		}
		switch {
		case seen[key]:
			return fmt.Errorf("pipeline %q stands there twice", key)
		case x.Nanoseconds < 0 || x.Nanoseconds > mostTime:
			return fmt.Errorf("%q took %d ns: 0 to %d are allowed", x.Function, x.Nanoseconds, int64(mostTime))
		case x.Need < 1 || x.Need > len(needed) || needed[x.Need-1]:
			return fmt.Errorf("%q has the need %d: the %d pipelines of the plan have each one of the numbers from 1 on", x.Function, x.Need, len(needed))
		}
		seen[key], needed[x.Need-1] = true, true
	}
	return nil
}

func checkName(what, name string) error {
	if name == "" || len(name) > longestName || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return fmt.Errorf("a %s of the name %.40q: 1 to %d bytes of UTF-8 without zeros are wanted", what, name, longestName)
	}
	return nil
}
