package metal

import (
	"errors"
	"fmt"

	"github.com/introgen/introgen/engine/metal/forward"
	"github.com/introgen/introgen/engine/metal/kernels"
	"github.com/introgen/introgen/metalshim"
)

// noRoom names the engine that needs no buffers, where a model that is being built
// finds no room in those of the device.
func noRoom(err error) error {
	if errors.As(err, new(*metalshim.AllocationError)) {
		return fmt.Errorf("%w%s", err, forward.CPURuns)
	}
	return err
}

// outside adds to the error of a kernel that left its buffers whose kernel that
// is, where it is not the project's own, and what is known of it.
func (d *Device) outside(err error) error {
	var failed *metalshim.CommandError
	if d.set.String() == kernels.Own || !errors.As(err, &failed) || !errors.Is(failed.Err, metalshim.ErrPageFault) || failed.Kernel == "" {
		return err
	}
	what := ""
	if known := kernels.Fault(failed.Kernel); known != "" {
		what = "; candle 0.11.0 is known for it: " + known
	}
	return fmt.Errorf("%w; that is a fault of the kernels %s and not of the model%s; `--kernels %s` has a kernel that does not", err, d.set, what, kernels.Own)
}
