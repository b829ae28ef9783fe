package table_test

import (
	"slices"
	"testing"

	"github.com/introgen/introgen/results/table"
)

// TestEach: who makes a view of another kind is told of all paragraphs and tables
// in the order in which they were appended.
func TestEach(t *testing.T) {
	var d, more table.Document
	d.Say("%d runs", 2)
	d.Table(&table.Table{Title: "first"})
	more.Sentences("a", "b")
	more.Table(&table.Table{Title: "second"})
	d.Append(&more)
	var got []string
	d.Each(func(text string) { got = append(got, text) }, func(t *table.Table) { got = append(got, "table "+t.Title) })
	if want := []string{"2 runs", "table first", "a.", "b.", "table second"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
