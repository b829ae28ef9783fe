package forward

import (
	"cmp"
	"fmt"
)

// CPURuns ends the errors over sound models that cannot run here.
const CPURuns = "; `introgen cpu` runs it"

// UnsupportedError says what of a model, which is sound and which the cpu engine
// runs, candle's passes do not compute or this plan does not follow.
type UnsupportedError struct{ Reason string }

func (e *UnsupportedError) Error() string { return "metal: " + e.Reason + CPURuns }

// Unsupported makes an UnsupportedError.
func Unsupported(format string, args ...any) error {
	return &UnsupportedError{fmt.Sprintf(format, args...)}
}

// Positions is how many positions a pass over a model of an architecture can reach
// whose file says context, and whose limit that is, in words that can end an error.
func Positions(architecture string, context int) (positions int, whose string) {
	m := models[architecture]
	if m == nil || context <= m.rows(context) {
		return context, fmt.Sprintf("the model's file allows no more (%s.context_length %d)", architecture, context)
	}
	rows := m.rows(context)
	return rows, fmt.Sprintf("that is candle's limit, whose rotary tables have %d rows where the model's file allows %d positions; `introgen cpu` is not bound by it", rows, context)
}

func (c *Config) positions() (positions int, whose string) {
	positions, whose = Positions(cmp.Or(c.Model, "llama"), c.Context)
	if c.bounded() && c.Positions < positions {
		return c.Positions, "the run was to reach no more, and there is room for as many"
	}
	return positions, whose
}

// LimitError says that a forward pass would end beyond the positions that there
// are.
type LimitError struct {
	Position, Tokens int
	Positions        int
	Whose            string // as Positions has it
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("metal: %d tokens from position %d on end beyond the last of %d positions: %s", e.Tokens, e.Position, e.Positions, e.Whose)
}
