package engine

import (
	"fmt"
	"math"
	"strings"

	"github.com/introgen/introgen/figures"
)

// Footprint is memory that a run cannot do without, in bytes: what is known of it
// before anything but the header of a model's file is read.
type Footprint struct {
	Weights   int64 // as the file has them
	Copies    int64 // of weights in another form, besides
	Cache     int64 // keys and values of Positions
	Positions int
}

// KeysAndValues is the size of a cache of elements of so many bytes. It never
// overflows: more than can be addressed is the most that can.
func KeysAndValues(layers, heads, dim, positions, element int) int64 {
	n := 2 * float64(element) * float64(layers) * float64(heads) * float64(dim) * float64(positions)
	return int64(min(n, math.MaxInt64/8))
}

// Check says that the footprint is larger than what the system can give, which is
// available bytes.
func (f Footprint) Check(available int64) error {
	need := f.Weights + f.Copies + f.Cache
	if need <= available {
		return nil
	}
	parts := []string{figures.Size(f.Weights) + " of weights"}
	if f.Copies > 0 {
		parts = append(parts, figures.Size(f.Copies)+" of copies of them")
	}
	parts = append(parts, fmt.Sprintf("%s of keys and values of %s", figures.Size(f.Cache), figures.Number(f.Positions, "position")))
	return fmt.Errorf("the run needs at least %s of memory (%s), and the system can give %s: take the model in a smaller quantization, a shorter prompt or fewer tokens, or end other programs",
		figures.Size(need), strings.Join(parts, ", "), figures.Size(available))
}
