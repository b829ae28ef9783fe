package page_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/introgen/introgen/results/benchtext"
	"github.com/introgen/introgen/results/breakdown/breakdowntest"
	"github.com/introgen/introgen/results/page"
	"github.com/introgen/introgen/results/page/pagetest"
	"github.com/introgen/introgen/results/programtest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
	"github.com/introgen/introgen/results/view"
)

func written(t *testing.T, o page.Options, all ...page.Recording) string {
	t.Helper()
	var b bytes.Buffer
	if err := page.Write(&b, all, o); err != nil {
		t.Fatal(err)
	}
	if b.Len() > page.MaxBytes {
		t.Errorf("the page has %d bytes, and at most %d are allowed", b.Len(), page.MaxBytes)
	}
	return b.String()
}

func recorded(t *testing.T, name string) *recording.File {
	t.Helper()
	f, err := recording.Open(filepath.Join("..", "recorded", name+recording.Ending))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestPolicy: the policy lets run the page's own script and style, by their hashes,
// and nothing else; a page that follows a run may ask where it comes from.
func TestPolicy(t *testing.T) {
	for live, connect := range map[string]string{"": "connect-src 'none'", "events": "connect-src 'self'"} {
		text := written(t, page.Options{Live: live}, page.Recording{Name: "x", File: recorded(t, "experiment-states")})
		policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)
		if policy == nil {
			t.Fatal("the page has no policy")
		}
		says := strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(policy[1])
		for _, want := range []string{"default-src 'none'", connect, "img-src data:", "base-uri 'none'", "form-action 'none'"} {
			if !slices.Contains(strings.Split(says, "; "), want) {
				t.Errorf("the policy %q has no %q", says, want)
			}
		}
		for element, directive := range map[string]string{"script": "script-src", "style": "style-src"} {
			found := regexp.MustCompile(`(?s)<`+element+`>(.*?)</`+element+`>`).FindAllStringSubmatch(text, -1)
			if len(found) != 1 {
				t.Fatalf("%d elements %s, want one", len(found), element)
			}
			sum := sha256.Sum256([]byte(found[0][1]))
			if want := directive + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(says, want) {
				t.Errorf("the policy %q has no %q", says, want)
			}
		}
		if bad := regexp.MustCompile(`\s(on[a-z]+|style|src)=`).FindAllString(text, -1); len(bad) > 0 {
			t.Errorf("the policy refuses the page's own %q", bad)
		}
		if got := strings.Contains(text, `data-live="events"`); got != (live != "") {
			t.Errorf("live %q: the address is in the page: %v", live, got)
		}
	}
}

// TestDownloadsAreTheViews: what lies in the page packed is the views, byte for byte.
func TestDownloadsAreTheViews(t *testing.T) {
	f := recorded(t, "experiment-sweep")
	text := written(t, page.Options{}, page.Recording{Name: "x", File: f})
	all := regexp.MustCompile(`download="([^"]*)"[^>]*href="data:application/gzip;base64,([^"]*)"`).FindAllStringSubmatch(text, -1)
	if len(all) != 2 {
		t.Fatalf("%d files, want 2", len(all))
	}
	for i, want := range []struct {
		name  string
		write func(io.Writer, *recording.File) error
	}{{"x.csv.gz", view.CSV}, {"x.txt.gz", benchtext.Write}} {
		packed, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(all[i][2], "&#43;", "+"))
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := want.write(&b, f); err != nil {
			t.Fatal(err)
		}
		if all[i][1] != want.name || !bytes.Equal(got, b.Bytes()) {
			t.Errorf("%s has %d bytes, want %s with %d", all[i][1], len(got), want.name, b.Len())
		}
	}
}

// TestIDs: no id stands twice, whatever is on the page, and each link leads somewhere.
func TestIDs(t *testing.T) {
	text := written(t, page.Options{}, page.Recording{Name: "states", File: recorded(t, "experiment-states")}, page.Recording{Name: "sweep", File: recorded(t, "experiment-sweep")},
		page.Recording{Name: "states", File: programtest.File(programtest.Marked(programtest.Cold))})
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if seen[m[1]] {
			t.Errorf("the id %s stands twice", m[1])
		}
		seen[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"|url\(#([^)]*)\)|aria-(?:labelledby|describedby)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if to := m[1] + m[2] + m[3]; !seen[to] {
			t.Errorf("%s leads nowhere", m[0])
		}
	}
}

// TestHostile: whatever a recording has for names, it stays text, and a line, and
// short.
func TestHostile(t *testing.T) {
	f, huge := pagetest.Hostile()
	answer := func(*recording.File) (*table.Document, error) {
		d := &table.Document{}
		d.Say("%s", huge)
		d.Table(&table.Table{Title: huge, Columns: []table.Column{{Name: huge, Left: true}}, Rows: [][]table.Cell{{table.Text(huge)}}})
		return d, nil
	}
	text := written(t, page.Options{Title: huge, Answer: answer}, page.Recording{Name: huge, File: f}, page.Recording{Name: huge, File: f})
	if n := strings.Count(text, "<script"); n != 1 {
		t.Errorf("%d elements script, want the page's own", n)
	}
	if n := len(regexp.MustCompile(`base64,[^"]*`).ReplaceAllString(text, "")); n > 600_000 {
		t.Errorf("names of 1 MB make a page of %d bytes beside what is packed", n)
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) }); i >= 0 {
		t.Errorf("the page has %q", text[max(0, i-40):min(len(text), i+40)])
	}
	for _, bad := range []string{"<img", "onerror=alert(1)>", `href="javascript`, "<!--"} {
		if i := strings.Index(text, bad); i >= 0 {
			t.Errorf("the page has %q: %.200q", bad, text[max(0, i-80):])
		}
	}
}

// TestNothing: what holds next to nothing makes a page all the same, and no recording
// is an error.
func TestNothing(t *testing.T) {
	if err := page.Write(io.Discard, nil, page.Options{}); err == nil {
		t.Error("a page of nothing is no error")
	}
	for name, f := range map[string]*recording.File{
		"nothing":       {},
		"a header":      {Header: &recording.Header{Command: "compare"}},
		"an empty run":  {Runs: []*recording.Run{{}}},
		"an empty plan": {Header: &recording.Header{Command: "sweep"}, Plan: &recording.Plan{}},
		"no steps":      {Runs: []*recording.Run{breakdowntest.Metal(1, 0, 0)}},
	} {
		text := written(t, page.Options{Answer: func(*recording.File) (*table.Document, error) { return nil, fmt.Errorf("none") }}, page.Recording{Name: name, File: f}, page.Recording{Name: "other", File: f})
		if !strings.Contains(text, `class="lead"`) {
			t.Errorf("%s: the page says nothing first", name)
		}
	}
}

// TestManyRuns: a file of very many runs makes a page of the usual size, in time.
func TestManyRuns(t *testing.T) {
	f := &recording.File{}
	for range 4000 {
		f.Runs = append(f.Runs, breakdowntest.Metal(1, 5, 1))
	}
	text := written(t, page.Options{}, page.Recording{Name: "x", File: f})
	if !strings.Contains(text, "further rows are left out of the table") {
		t.Error("the page does not say that rows are left out")
	}
}

// TestOrder: what a recording was made for comes first, only a cold start is called
// one, and what is said of a plot is of what it shows.
func TestOrder(t *testing.T) {
	sweep := written(t, page.Options{}, page.Recording{Name: "sweep", File: recorded(t, "experiment-sweep")})
	if a, b := strings.Index(sweep, `<section id="sweep"`), strings.Index(sweep, `<section id="start"`); a < 0 || a > b {
		t.Errorf("the curve of a sweep is at %d, its start at %d", a, b)
	}
	states := written(t, page.Options{}, page.Recording{Name: "states", File: recorded(t, "experiment-states")})
	cold := `<h2 id="start-heading">Cold start</h2>`
	if strings.Contains(sweep, cold) || !strings.Contains(states, cold) {
		t.Error("the start of warm runs is called cold, or that of cold ones is not")
	}
	if n := strings.Count(sweep, "Recommended: "); n != 1 {
		t.Errorf("the answer of a sweep stands %d times in its page, which has no report", n)
	}
	if lead, do := strings.Index(states, `class="lead"`), strings.Index(states, "What to do: compile before it matters"); lead < 0 || do < lead || strings.Contains(states[lead:do], "<details") {
		t.Error("what to do about what a plan's page begins with is not below it, or has to be opened")
	}
	if n := strings.Count(states, "What to do: compile before it matters"); n != 1 {
		t.Errorf("what to do stands %d times", n)
	}
	single := written(t, page.Options{}, page.Recording{Name: "x", File: &recording.File{Runs: []*recording.Run{breakdowntest.Metal(2, 20, 1)}}})
	lines := "the lines are percentiles of the rounds after the first"
	if strings.Contains(states, "the lines are percentiles") || !strings.Contains(single, lines) {
		t.Error("lines are promised that are not drawn, or nobody says of what they are")
	}
	if strings.Contains(single, "round 1, round 1") || !strings.Contains(single, "round 1: from step 2") {
		t.Error("a row of steps does not name its round once")
	}
}

// TestTooLarge: what is raw is left out of a page that would become too large, and the
// page says so and how to get it.
func TestTooLarge(t *testing.T) {
	f := &recording.File{Runs: []*recording.Run{breakdowntest.Metal(20, 5000, 1)}}
	text := written(t, page.Options{}, page.Recording{Name: "x", File: f})
	if !strings.Contains(text, "would make the page too large") && !strings.Contains(text, `download="x.csv.gz"`) {
		t.Error("the samples are neither in the page nor said to be left out")
	}
}
