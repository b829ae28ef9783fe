package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/explain"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/answers/sweep"
	"github.com/introgen/introgen/results/metrics"
)

// verdict begins the page: in one sentence what the recording says, then what of it
// is known to be so, why, and what to do.
func (s subject) verdict() []block {
	var out []block
	if s.file.Broken != "" {
		out = append(out, block{Lead: sentence("The recording is not whole: " + s.file.Broken)})
	}
	for _, run := range s.file.Runs {
		if run.Start == nil && !run.Counts() && !s.running(run) {
			text := "The run does not count: " + run.Uncounted()
			if ending := run.Ending(); ending == run.Uncounted() {
				text = "The run " + ending
			}
			out = append(out, block{Lead: sentence(text)}, block{Text: "What follows is what it recorded until then."})
		}
	}
	if len(s.file.Counted("")) == 0 {
		switch {
		case s.live && len(out) == 0:
			out = append(out, block{Lead: "No run has ended yet."})
		case len(s.file.Runs) > 1 || len(out) == 0:
			out = append(out, block{Lead: sentence("No run counts" + because(samples.Uncounted(s.file.File)))})
		}
		return append(out, block{List: s.said()})
	}
	answer := explain.Of(s.file)
	for _, text := range s.leads(answer) {
		out = append(out, block{Lead: sentence(text)})
	}
	for i, arm := range answer.Arms {
		if i == mostNotes {
			out = append(out, block{Text: fmt.Sprintf("%d further kinds of runs are left out here: `introgen explain` has them.", len(answer.Arms)-i)})
			break
		}
		stands := func(text string) bool {
			return slices.ContainsFunc(out, func(b block) bool { return b.Lead == sentence(capital(text)) })
		}
		if stands(arm.Cause) {
			arm.Cause = ""
		}
		if len(arm.Findings) > 0 && stands(arm.Findings[0].Text) {
			f := arm.Findings[0]
			out = append(out, block{Text: sentence(fmt.Sprintf("%s (%s%s). What to do: %s", capital(f.Rule), f.Sure, cost(f), f.Advice))})
			arm.Findings = arm.Findings[1:]
		}
		kind := "finding"
		if len(answer.Arms) > 1 && len(arm.Findings) > 0 && strings.HasPrefix(answer.Verdict, arm.Name+": ") && out[0].Lead == sentence(answer.Verdict) {
			f := arm.Findings[0] // of what the page begins with; a reader may have no introgen to ask
			out = append(out, block{Text: sentence(fmt.Sprintf("%s: %s (%s%s): %s", clean(arm.Name), f.Rule, f.Sure, cost(f), f.Text))}, block{Text: sentence("What to do: " + f.Advice)})
			arm.Findings, kind = arm.Findings[1:], "further finding"
		}
		if b := found(arm); len(answer.Arms) == 1 {
			out = append(out, b...)
		} else if len(b) > 0 {
			findings := "no " + kind
			if n := len(arm.Findings); n > 0 {
				findings = figures.Number(n, kind)
			}
			title := fmt.Sprintf("%s, %s: %s", clean(arm.Name), figures.Number(arm.Runs, "run"), findings)
			out = append(out, block{Details: &details{title, b}})
		}
	}
	return append(out, block{List: append(sentences(answer.Differences), sentences(answer.Notes)...)})
}

// leads are the sentences that answer what the recording was made for.
func (s subject) leads(answer *explain.Answer) []string {
	if h := s.header(); h != nil && h.Command == "sweep" && s.file.Plan != nil {
		if a, err := sweep.Of(s.file, s.swept()); err == nil {
			var out []string
			for _, g := range a.Groups {
				text := g.Verdict.Sentence()
				if g.Others != "" {
					text = g.Others + ": " + text
				}
				out = append(out, text)
			}
			return out
		}
	}
	for _, arm := range answer.Arms {
		if len(answer.Arms) > 1 {
			break
		}
		if len(arm.Findings) > 0 {
			return []string{capital(arm.Findings[0].Text)}
		}
		if arm.Cause != "" {
			return []string{arm.Cause}
		}
	}
	if answer.Verdict != "" {
		return []string{answer.Verdict}
	}
	return []string{"Nothing in the recording says where its time went"}
}

// swept is the figure that the values of a sweep are compared by: what was asked for,
// or else the decode step, and where only the reading of the file was varied that.
func (s subject) swept() metrics.Metric {
	if asked, _ := s.header().Knob("metric"); asked != "" {
		for _, m := range metrics.All {
			if m.Called(asked) {
				return m
			}
		}
	}
	if slices.Equal(s.file.Plan.Factors, []string{"io"}) {
		return metrics.Read
	}
	return metrics.Decode
}

// found is what explain has found of an arm.
func found(arm explain.Arm) []block {
	var out []block
	if arm.Cause != "" {
		out = append(out, block{Text: sentence(arm.Cause)})
	}
	for _, f := range arm.Findings {
		out = append(out, block{Details: &details{fmt.Sprintf("%s (%s%s)", clean(f.Rule), f.Sure, cost(f)), []block{
			{Text: sentence(capital(f.Text))}, {Text: sentence("What to do: " + f.Advice)},
		}}})
	}
	return out
}

// cost is what a cause takes of the time, as the sentence about it ends.
func cost(f explain.Finding) string {
	if f.Cost <= 0 {
		return ""
	}
	return ", " + figures.Milliseconds(f.Cost) + " ms"
}

// said are the notes of a recording of which no run counts: they may say why.
func (s subject) said() []string {
	var out []string
	for _, run := range s.file.Runs {
		for _, n := range run.Notes {
			if len(out) < mostNotes {
				out = append(out, sentence(n.Text))
			}
		}
	}
	return out
}

// mostNotes is how many notes, warnings and the like the page shows of one kind.
const mostNotes = 50

func sentences(texts []string) []string {
	var out []string
	for i, t := range texts {
		if i == mostNotes {
			return append(out, fmt.Sprintf("%d more are left out here: `introgen explain` has them.", len(texts)-i))
		}
		out = append(out, sentence(t))
	}
	return out
}

func because(reasons []string) string {
	if len(reasons) == 0 {
		return ""
	}
	return ": " + strings.Join(reasons, "; ")
}

// capital has a sentence begin with a capital letter, where it begins with a word of
// ours and no name.
func capital(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if first == "" || first != strings.ToLower(first) || strings.ContainsAny(first, "-_/.0123456789") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
