package metal

import (
	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/transformer"
)

// Needs knows which pipelines m needs in a run that reaches so many positions, on a
// device of the architecture ("" for one that has none), without a device.
func Needs(m *transformer.Model, positions int, architecture string, a Arithmetic) (*forward.Needs, error) {
	if err := check(m); err != nil {
		return nil, err
	}
	return forward.NewNeeds(plan{a, positions, architecture}.config(m, weightsOf(m)))
}
