package metal

import (
	"github.com/introgen/introgen/engine/llama"
	"github.com/introgen/introgen/engine/metal/plan"
)

// Needs knows which pipelines m needs on a device of the architecture ("" for
// one that has none), without a device.
func Needs(m *llama.Model, architecture string) (*plan.Needs, error) {
	if err := checkModel(m); err != nil {
		return nil, err
	}
	return plan.NewNeeds(configOf(m, weightsOf(m), architecture))
}
