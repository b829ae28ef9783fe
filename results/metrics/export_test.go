package metrics

// Rounds says in words which rounds of a run speak for it.
func (m Metric) Rounds() string {
	switch {
	case m.later:
		return "those after the first, or the only one"
	case m.run != nil:
		return "the whole run"
	}
	return "the first"
}
