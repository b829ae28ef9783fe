package page

import (
	"html/template"

	"github.com/introgen/introgen/results/plot"
)

// figure is a plot, drawn for a wide page and for a narrow one, of which the page's
// style shows the one that fits; and the table with the same figures.
type figure struct {
	Wide, Narrow template.HTML
	Title, About string
	Table        grid
}

// figure draws a plot twice. id is one within the recording.
func (s subject) figure(id, title, description string, draw func(plot.Options) plot.Figure) *figure {
	o := plot.Options{Title: title, Description: description}
	o.ID, o.Width = s.id(id), plot.Wide
	wide := draw(o)
	o.ID, o.Width = s.id(id+"-narrow"), plot.Narrow
	return &figure{Wide: wide.HTML(), Narrow: draw(o).HTML(), Title: title, About: description}
}
