package table

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/introgen/introgen/results/sanitize"
	"github.com/introgen/introgen/system/terminal"
)

// Width is the number of columns that sentences on a terminal are broken at.
const Width = terminal.Columns

// Document is what a command prints: tables, sentences and drawings in order.
type Document struct {
	blocks []block
	// ASCII says that the reader's terminal has no other characters, so that
	// drawings are made of these. Names stay what they are.
	ASCII bool
}

// block is a table, a drawing, or a paragraph where both are nil.
type block struct {
	table   *Table
	drawing *drawing
	text    string
}

// Table appends a table, with its title.
func (d *Document) Table(t *Table) { d.blocks = append(d.blocks, block{table: t}) }

// Say appends a paragraph. Line breaks are those of the format; in what is filled
// in they are blanks.
func (d *Document) Say(format string, a ...any) {
	d.blocks = append(d.blocks, block{text: fmt.Sprintf(format, sanitize.Args(a)...)})
}

// Sentences appends each as a paragraph, which a period ends.
func (d *Document) Sentences(sentences ...string) {
	for _, s := range sentences {
		d.Say("%s.", s)
	}
}

// Notes are sentences without their periods, to be told below what they are
// about.
type Notes []string

// Add appends a note.
func (n *Notes) Add(format string, a ...any) { *n = append(*n, fmt.Sprintf(format, a...)) }

// Append appends all of another document.
func (d *Document) Append(o *Document) { d.blocks = append(d.blocks, o.blocks...) }

// Each calls say with every paragraph and show with every table, in order: for
// views that are made of more than text. What they are given is as it was appended;
// names in tables are whole, and nothing has made them harmless. Drawings are left
// out: such a view has its own.
func (d *Document) Each(say func(text string), show func(*Table)) {
	for _, k := range d.blocks {
		switch {
		case k.table != nil:
			show(k.table)
		case k.drawing == nil:
			say(k.text)
		}
	}
}

// Write writes the document. A table that is wider than a terminal is divided
// there. A table stands apart from what comes before it by
// an empty line; paragraphs follow their table at once. In CSV titles and
// paragraphs are lines that begin with #.
func (d *Document) Write(w io.Writer, s Style) error {
	var b bytes.Buffer
	for i, k := range d.blocks {
		// Markdown takes lines that follow a table for rows of it.
		if k.drawing != nil {
			k.drawing.write(&b, s, d.ASCII)
			continue
		}
		if i > 0 && (k.table != nil || s == Markdown || d.blocks[i-1].table != nil && s != Plain && s != CSV) {
			b.WriteByte('\n')
		}
		if k.table == nil {
			b.WriteString(paragraph(k.text, s))
			continue
		}
		if title := sanitize.Line(k.table.Title); title != "" {
			switch s {
			case Markdown:
				fmt.Fprintf(&b, "**%s**\n\n", escaped(title))
			case CSV:
				fmt.Fprintf(&b, "# %s\n", sanitize.Comment(title))
			default:
				b.WriteString(Wrap(title, Width))
			}
		}
		if s == CSV {
			if err := k.table.writeCSV(&b); err != nil {
				return err
			}
			continue
		}
		for i, part := range k.table.shown(s).divide(s) {
			if i > 0 {
				b.WriteByte('\n')
			}
			if err := part.render(&b, s); err != nil {
				return err
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func paragraph(text string, s Style) string {
	switch s {
	case Markdown:
		return escapedText(text) + "\n"
	case CSV:
		return "# " + strings.ReplaceAll(sanitize.Comment(text), "\n", "\n# ") + "\n"
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(Wrap(strings.TrimSuffix(line, "\n"), Width))
	}
	return b.String()
}

// Wrap breaks a line at spaces so that none is longer than width columns,
// unless a word is. What follows the first line is indented as that is, and two
// columns more. The result ends in a line break.
func Wrap(line string, width int) string {
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	return strings.Join(terminal.Fold(line, indent, indent+"  ", width), "\n") + "\n"
}
