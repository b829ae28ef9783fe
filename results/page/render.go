package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/introgen/introgen/results/plot"
)

//go:embed assets/page.html
var markup string

//go:embed assets/page.css
var style string

//go:embed assets/page.js
var script string

var layout = template.Must(template.New("page").Funcs(template.FuncMap{"code": code}).Parse(markup))

// code is a text in which commands stand between backticks, as sentences of the
// project have them: the page sets them apart.
func code(text string) template.HTML {
	parts := strings.Split(text, "`")
	if len(parts)%2 == 0 { // the last one has no end
		return template.HTML(template.HTMLEscapeString(text))
	}
	var b strings.Builder
	for i, p := range parts {
		p = template.HTMLEscapeString(p)
		if i%2 == 1 {
			p = "<code>" + p + "</code>"
		}
		b.WriteString(p)
	}
	return template.HTML(b.String())
}

// page is what the template is filled with.
type page struct {
	Title    string
	Policy   string
	Style    template.HTML // an element, whose hash is in the policy
	Script   template.HTML
	Live     string
	Verdicts []panel
	Sections []section

	all []subject
	raw [][]raw // of each recording
}

// newPage makes all sections of the page.
func newPage(all []subject, o Options) *page {
	sheet, program := plot.Style()+style, script
	p := &page{Title: clean(o.Title), Live: o.Live, all: all,
		Style: template.HTML("<style>" + sheet + "</style>"), Script: template.HTML("<script>" + program + "</script>")}
	connect := "'none'"
	if o.Live != "" {
		connect = "'self'"
	}
	p.Policy = strings.Join([]string{"default-src 'none'", "style-src " + hash(sheet), "script-src " + hash(program), "img-src data:", "connect-src " + connect, "base-uri 'none'", "form-action 'none'"}, "; ")
	if p.Title == "" {
		for i, s := range all {
			if i > 0 {
				p.Title += ", "
			}
			p.Title += s.name
		}
		p.Title = cut(p.Title, longest)
	}
	p.Verdicts = p.panels(subject.verdict)
	add := func(id, title string, panels []panel) {
		if len(panels) > 0 {
			p.Sections = append(p.Sections, section{ID: id, Title: title, Panels: panels})
		}
	}
	if len(all) > 1 {
		add("differences", "Differences", []panel{{Blocks: differences(all)}})
	}
	add("sweep", "Sweep", p.panels(subject.sweeps)) // what the recording was made for
	for _, x := range []struct {
		id, title string
		of        func(subject) []block
	}{
		{"start", startTitle(all), subject.start},
		{"stages", "Stages", subject.stages},
		{"steps", "Decode steps", subject.decodeSteps},
		{"compiles", "Compiles", subject.compiles},
		{"kernels", "Kernels", subject.kernels},
		{"report", "Report", func(s subject) []block { return s.report(o) }},
		{"evidence", "Environment and evidence", subject.evidence},
	} {
		if x.id == "stages" && len(all) > 1 {
			if one := together(all); one != nil {
				add(x.id, x.title, []panel{{Blocks: one}})
				continue
			}
		}
		add(x.id, x.title, p.panels(x.of))
	}
	p.Sections = append(p.Sections, section{ID: "raw", Title: "Raw samples"})
	for _, s := range all {
		p.raw = append(p.raw, s.raws())
	}
	return p
}

// hash is that of an element's text, as a policy has it.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// panels are what each recording has to show.
func (p *page) panels(of func(subject) []block) []panel {
	var out []panel
	for _, s := range p.all {
		blocks := of(s)
		if len(blocks) == 0 {
			continue
		}
		name := ""
		if len(p.all) > 1 {
			name = s.name
		}
		out = append(out, panel{name, blocks})
	}
	return out
}

// report is what the command that made a plan says of it.
func (s subject) report(o Options) []block {
	if o.Answer == nil || s.file.Plan == nil {
		return nil
	}
	doc, err := o.Answer(s.file.File)
	if err != nil {
		return []block{{Text: sentence("There is no report: " + err.Error())}}
	}
	return blocksOf(doc)
}

// fill has the raw samples take so many bytes at the most.
func (p *page) fill(room int) {
	p.Sections[len(p.Sections)-1].Panels = p.panels(func(s subject) []block { return files(p.raw[s.place], room/len(p.all)) })
}

func (p *page) render(w io.Writer) error {
	if err := layout.Execute(w, p); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}
