package coverage

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/table"
)

// The arms of the plan that makes both runs.
const (
	ArmFull   = "full"
	ArmWarmUp = "warm-up"
)

// Verified is the answer with what the runs of a plan made of it. It fails where
// they made something else than was foretold, or nothing that could be held
// against it.
func Verified(f *recording.File) (*table.Document, error) {
	if f.Plan == nil || f.Plan.Coverage == nil {
		// The file of the model that it names may hold another by now.
		return nil, errors.New("it does not hold what its runs were computed to need, as recordings of older versions do not; `introgen coverage --verify` makes one that does")
	}
	c := f.Plan.Coverage
	doc := Of(c).Document()
	for _, arm := range []struct {
		name string
		run  recording.Foretold
	}{{ArmFull, c.Full}, {ArmWarmUp, c.WarmUp}} {
		made := f.Counted(arm.name)
		if len(made) == 0 {
			return nil, fmt.Errorf("the %s run failed, or was not made, so nothing is verified", arm.name)
		}
		if len(arm.run.Needs) == 0 {
			return nil, fmt.Errorf("the %s run needs no pipeline, so nothing is verified", arm.name)
		}
		if n := made[0].LostSpans(); n > 0 {
			return nil, fmt.Errorf("of the %s run %d spans are missing from the recording, which may have been pipelines, so nothing is verified", arm.name, n)
		}
		if text := differ(arm.run.Needs, made[0].Pipelines); text != "" {
			return nil, fmt.Errorf("the %s run made other pipelines than its dispatches need: %s", arm.name, text)
		}
		doc.Say("Verified: the %s run (%s) made exactly the %d pipelines that were computed.", arm.name, runOf(arm.run), len(arm.run.Needs))
	}
	return doc, nil
}

// differ says how what a run made differs from what was foretold: "" where it
// does not. The order does not matter.
func differ(foretold []recording.Need, made []recording.Pipeline) string {
	var want, seen []Use
	for _, n := range foretold {
		want = append(want, useOf(n))
	}
	for _, p := range made {
		seen = append(seen, Use{p.Library, p.Function, p.Constants})
	}
	var out []string
	for _, u := range want {
		if !slices.Contains(seen, u) {
			out = append(out, u.String()+" was expected and not made")
		}
	}
	for _, u := range seen {
		if !slices.Contains(want, u) {
			out = append(out, u.String()+" was made and not expected")
		}
	}
	return strings.Join(out, "; ")
}
