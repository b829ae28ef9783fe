// Package peer is what programs need that compare introgen with other engines on
// this machine: it builds the peers, runs processes of them, reads what they print,
// and writes tables of spreads into a page.
package peer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/system/files"
)

// Ordered is the list in the order of a block: begun at another place each time,
// and backwards in every other one, so that no engine always comes first or
// always follows the same one.
func Ordered[T any](list []T, block int) []T {
	n := len(list)
	out := make([]T, 0, n)
	for i := range n {
		out = append(out, list[(i+block)%n])
	}
	if block%2 == 1 {
		slices.Reverse(out)
	}
	return out
}

// The measured part of a page stands between these lines.
const (
	BeginMark = "<!-- measured: begin -->"
	EndMark   = "<!-- measured: end -->"
)

var errNoMarks = errors.New("the page has no place for what is measured: a line `" + BeginMark + "` and below it a line `" + EndMark + "`")

// ReplaceMeasured puts text between the marks of the page in the file.
func ReplaceMeasured(file, text string) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%w: run this in the project's folder, or name the page with -out", err)
	}
	before, rest, ok := bytes.Cut(page, []byte(BeginMark+"\n"))
	_, after, ok2 := bytes.Cut(rest, []byte(EndMark))
	if !ok || !ok2 {
		return fmt.Errorf("%s: %w", file, errNoMarks)
	}
	return files.Write(file, slices.Concat(before, []byte(BeginMark+"\n\n"+text), []byte(EndMark), after), files.Options{})
}

// Quiet is the load average up to which a machine counts as having nothing else
// to do.
const Quiet = 0.5

// WriteTable describes the machine in a table: busy is the load average before the
// first block, absent what could not be measured.
func (c Machine) WriteTable(b *strings.Builder, busy float64, absent []string) {
	rows := [][]string{{"processor", c.CPU}, {"cores", fmt.Sprint(c.Cores)}}
	for _, row := range [][]string{
		{"of its features", strings.Join(c.Features, " ")}, {"largest cache", c.Cache}, {"memory", c.Memory},
		{"system", c.System}, {"transparent huge pages", c.Pages},
	} {
		if row[1] != "" {
			rows = append(rows, row)
		}
	}
	if busy > 0 {
		state := "quiet"
		if busy > Quiet {
			state = "**not quiet: other work was going on, so read the ratios, and read them with their spread**"
		}
		rows = append(rows, []string{"before the first block", fmt.Sprintf("load average %s: %s", figures.Text(busy, 2), state)})
	}
	for _, name := range absent {
		rows = append(rows, []string{"not measured", name + ": it could not be had here"})
	}
	Table(b, []string{"machine", ""}, rows)
}
