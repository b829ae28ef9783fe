package table

import "strings"

// eighths are the parts of a cell of a bar, from none to all of it.
var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"}

// Bar draws v as a part of most, in width columns at the most. What is more
// than nothing is drawn as something.
func Bar(v, most float64, width int) string {
	if !(v > 0) || !(most > 0) {
		return ""
	}
	n := max(1, int(min(v/most, 1)*float64(width)*8+0.5))
	return strings.Repeat(eighths[8], n/8) + eighths[n%8]
}
