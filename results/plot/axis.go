package plot

// tallest is the height of a drawing that has its ticks at the top too: the axis at
// its bottom is out of sight there.
const tallest = 400

// head is the room above a drawing of rows that are so tall.
func head(tall float64) float64 {
	if tall > tallest {
		return 22
	}
	return 8
}

// across draws a horizontal axis at y with lines of its ticks up to top, and
// returns where what follows it may stand.
func (c *canvas) across(s scale, top, y float64, name string) float64 {
	return c.acrossAt(s, s.ticks(max(2, int((s.to-s.from)/75))), top, y, name)
}

// acrossAt is across with ticks that are given, from left to right.
func (c *canvas) acrossAt(s scale, ticks []tick, top, y float64, name string) float64 {
	last := s.from - 1e9
	for _, t := range ticks {
		x := s.at(t.value)
		c.line("plot-grid", x, top, x, y)
		half := measure(t.text, tickSize) / 2
		if t.text == "" || x-half < last+6 {
			continue
		}
		at := min(max(x, half+2), c.width()-half-2)
		c.text(at, y+15, "middle", "plot-tick", t.text)
		if y-top > tallest {
			c.text(at, top-5, "middle", "plot-tick", t.text)
		}
		last = at + half
	}
	c.line("plot-axis", s.from, y, s.to, y)
	y += 20
	if name != "" {
		c.text((s.from+s.to)/2, y+12, "middle", "plot-muted", fit(name, c.width()-2*margin, textSize))
		y += 18
	}
	return y
}

// up draws a vertical axis at x with lines of its ticks to the right; its name
// stands above it. s goes from the bottom to the top.
func (c *canvas) up(s scale, x, right float64, name string) {
	for _, t := range s.ticks(max(2, int((s.from-s.to)/45))) {
		y := s.at(t.value)
		c.line("plot-grid", x, y, right, y)
		if t.text != "" {
			c.text(x-6, y+4, "end", "plot-tick", t.text)
		}
	}
	c.line("plot-axis", x, s.from, x, s.to)
	if name != "" {
		c.text(margin, s.to-12, "start", "plot-muted", fit(name, c.width()-2*margin, textSize))
	}
}

// labelled is how wide the widest tick of a vertical axis is, with its distance.
func labelled(s scale, height float64) float64 {
	widest := 0.0
	for _, t := range s.ticks(max(2, int(height/45))) {
		widest = max(widest, measure(t.text, tickSize))
	}
	return widest + 6 + margin
}

// side is how wide the column of labels at the left is, of which the widest is so
// wide.
func (c *canvas) side(widest float64) float64 {
	return margin + min(widest, 0.34*c.width()) + 8
}
