package sweep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/answers/samples"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/stats"
)

// Defaults are the values that a run has without the flag, by factor. They are
// kept unless another value is better.
var Defaults = map[string]string{PerBuffer: "50", "CANDLE_METAL_COMPUTE_PER_BUFFER": "50", "io": "mmap", "tokens": "20"}

// matters is the smallest difference that is worth a setting.
const matters = 0.02

// Verdict is which value to take.
type Verdict struct {
	Take   string // "" where nothing can be taken
	Effect bool   // whether any value is told apart from it
	// Ratios are the other values' times or rates as multiples of that of Take,
	// the worst first.
	Ratios []Ratio
	// Decidable is whether there are enough runs; else Take has the lowest
	// median, whatever chance had to do with it.
	Decidable bool
	// Finds is the smallest effect that the sweep could have detected, over
	// the pairs with Take; 0 where none can be found.
	Finds float64
	What  string // factor
	Rate  bool   // what is compared is a number a second, of which more is better
}

// Ratio is a value's time or rate as a multiple of another's.
type Ratio struct {
	Level string
	stats.Ratio
	Apart bool // it is told apart, and the difference is worth a setting
}

// judge recommends the value with the lowest median, or the default where that
// is not told apart from it.
func judge(factor string, rows []Row, m metrics.Metric) Verdict {
	v := Verdict{What: factor, Rate: m.Rate}
	if len(rows) < 2 {
		return v
	}
	best := rows[0]
	for _, r := range rows[1:] {
		if better(r.Time.Median, best.Time.Median, m) {
			best = r
		}
	}
	if i := slices.IndexFunc(rows, func(r Row) bool { return r.Level == Defaults[factor] }); i >= 0 && rows[i].Level != best.Level {
		if r := ratio(best, rows[i], m); r.Decidable && !r.Apart {
			best = rows[i]
		}
	}
	v.Take, v.Decidable = best.Level, true
	for _, r := range rows {
		if r.Level == best.Level {
			continue
		}
		x := ratio(best, r, m)
		v.Ratios = append(v.Ratios, x)
		v.Decidable = v.Decidable && x.Decidable
		v.Effect = v.Effect || x.Apart
		v.Finds = max(v.Finds, x.MDE)
	}
	slices.SortStableFunc(v.Ratios, func(a, b Ratio) int {
		if better(a.Ratio.Ratio, b.Ratio.Ratio, m) {
			return 1
		}
		return -1
	})
	return v
}

func better(a, b float64, m metrics.Metric) bool {
	if m.Rate {
		return a > b
	}
	return a < b
}

func ratio(a, b Row, m metrics.Metric) Ratio {
	r := samples.Ratio(a.Series, b.Series, m)
	return Ratio{Level: b.Level, Ratio: r, Apart: r.Significant && (r.Ratio > 1+matters || r.Ratio < 1-matters)}
}

// Sentence says what to take, and what the others cost.
func (v Verdict) Sentence() string {
	if v.Take == "" {
		return "One value alone: there is nothing to choose from"
	}
	isDefault := ""
	if v.Take == Defaults[v.What] {
		isDefault = ", the default"
	}
	if v.Decidable && !v.Effect {
		text := fmt.Sprintf("No effect: no value of %s is told apart from %s%s", v.What, v.Take, isDefault)
		if v.Finds > 0 {
			text += fmt.Sprintf("; an effect of %s would have been found", figures.Percent(v.Finds))
		}
		return text
	}
	var apart, alike []string
	for _, r := range v.Ratios {
		text := fmt.Sprintf("%s takes %s× its time", r.Level, samples.Times(r.Ratio.Ratio))
		if v.Rate {
			text = fmt.Sprintf("%s reaches %s× its rate", r.Level, samples.Times(r.Ratio.Ratio))
		}
		if len(apart) > 0 {
			text = fmt.Sprintf("%s %s×", r.Level, samples.Times(r.Ratio.Ratio))
		}
		if r.Apart || !v.Decidable {
			apart = append(apart, text)
		} else {
			alike = append(alike, r.Level)
		}
	}
	text := fmt.Sprintf("Recommended: %s=%s%s; %s", v.What, v.Take, isDefault, strings.Join(apart, ", "))
	if len(alike) > 0 {
		text += "; not told apart: " + strings.Join(alike, ", ")
	}
	if !v.Decidable {
		text += fmt.Sprintf("; undecided, since that needs %d runs of each", stats.LeastForInterval)
	}
	return text
}
