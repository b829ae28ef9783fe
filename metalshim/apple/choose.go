package apple

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/introgen/introgen/metalshim"
)

// Choice is one of the system's devices.
type Choice struct {
	Name          string
	RegistryID    uint64
	Default       bool // it is MTLCreateSystemDefaultDevice's
	LowPower      bool // an integrated GPU beside a stronger one
	Headless      bool // without a display
	Removable     bool
	UnifiedMemory bool
	Family        Family
}

// String is "Apple M2 (4294968389), the default one, Apple8, Mac2, Metal3".
func (c Choice) String() string {
	text := fmt.Sprintf("%s (%d)", c.Name, c.RegistryID)
	for _, p := range []struct {
		is   bool
		text string
	}{{c.Default, "the default one"}, {c.LowPower, "of low power"}, {c.Headless, "without a display"}, {c.Removable, "removable"}, {!c.UnifiedMemory, "with memory of its own"}} {
		if p.is {
			text += ", " + p.text
		}
	}
	return text + ", " + c.Family.String()
}

// Devices lists the system's devices, in its order. Of Options only the
// libraries count. No device gives an empty list.
func Devices(ctx context.Context, o Options) ([]Choice, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a, err := load(o.Libraries)
	if err != nil {
		return nil, err
	}
	defer a.Push().Pop()
	var standard uint64
	if d := (mtlDevice{object{a, a.CreateSystemDefaultDevice()}}); !d.nothing() {
		standard = d.registryID()
		d.release()
	}
	var out []Choice
	a.all(func(d mtlDevice) bool {
		out = append(out, Choice{
			Name: d.name(), RegistryID: d.registryID(), Default: d.registryID() == standard,
			LowPower: d.isLowPower(), Headless: d.isHeadless(), Removable: d.isRemovable(),
			UnifiedMemory: d.hasUnifiedMemory(), Family: d.families(),
		})
		return true
	})
	return out, nil
}

// all shows the devices that MTLCopyAllDevices lists, borrowed, until do says
// that it has seen enough.
func (a *api) all(do func(mtlDevice) bool) {
	list := a.CopyAllDevices()
	defer a.Release(list)
	for i := range a.Count(list) {
		if !do(mtlDevice{object{a, a.At(list, i)}}) {
			return
		}
	}
}

// choose opens a device, +1. A process without a window may get no default
// device though there is one: then it is the first of the list.
func (a *api) choose(wanted string) (mtlDevice, error) {
	if wanted == "" {
		if d := (mtlDevice{object{a, a.CreateSystemDefaultDevice()}}); !d.nothing() {
			return d, nil
		}
	}
	var found id
	var names []string
	a.all(func(d mtlDevice) bool {
		name, registry := d.name(), d.registryID()
		names = append(names, fmt.Sprintf("%q (%d)", name, registry))
		if wanted == "" || wanted == name || wanted == strconv.FormatUint(registry, 10) {
			found = a.Retain(d.o)
		}
		return found == 0
	})
	switch {
	case found != 0:
		return mtlDevice{object{a, found}}, nil
	case len(names) == 0:
		return mtlDevice{}, fmt.Errorf("apple metal driver: %w: neither a default one nor one in the list of all; a virtual machine may have none", metalshim.ErrNoDevice)
	}
	return mtlDevice{}, fmt.Errorf("apple metal driver: %w called %q; there are %s", metalshim.ErrNoDevice, wanted, strings.Join(names, ", "))
}

// Family is which sets of features a device has, as MTLGPUFamily numbers them.
type Family struct {
	Apple  int // 7 for Apple7; 0 for a GPU that is not Apple's
	Mac    int // 2 for Mac2, 0 if none
	Common int // 3 for Common3
	Metal  int // 3 for Metal3, 4 for Metal4, 0 if neither
}

// The numbers of MTLGPUFamily are these plus the family's own.
const (
	familyApple  = 1000
	familyMac    = 2000
	familyCommon = 3000
	familyMetal  = 4998 // Metal3 is 5001
)

// families asks for each family; those that a system does not know yet or any
// more are answered with no.
func (d mtlDevice) families() Family {
	highest := func(base int64, from, to int) int {
		for n := to; n >= from; n-- {
			if d.supportsFamily(base + int64(n)) {
				return n
			}
		}
		return 0
	}
	return Family{
		Apple: highest(familyApple, 1, 10), Mac: highest(familyMac, 1, 2),
		Common: highest(familyCommon, 1, 3), Metal: highest(familyMetal, 3, 4),
	}
}

// String is "Apple8, Mac2, Metal3", without what says nothing.
func (f Family) String() string {
	var parts []string
	for _, p := range []struct {
		name string
		n    int
	}{{"Apple", f.Apple}, {"Mac", f.Mac}, {"Metal", f.Metal}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprint(p.name, p.n))
		}
	}
	if len(parts) == 0 {
		return fmt.Sprint("Common", f.Common)
	}
	return strings.Join(parts, ", ")
}

// simdFamily is the first of Apple's families with matrices of simdgroups and
// reductions over them (Apple, Metal Feature Set Tables).
const simdFamily = 7

// FamilyError says that a device lacks what the kernels of a model need.
type FamilyError struct {
	Device string
	Family Family
}

func (e *FamilyError) Error() string {
	return fmt.Sprintf("metal device %q is of family %v: matrices of simdgroups and reductions over them, which a model's kernels use, need Apple%d or later (M1, A14); use --driver soft on Linux, or `introgen cpu`", e.Device, e.Family, simdFamily)
}

// Family is which sets of features the device has.
func (d *Device) Family() Family { return d.family }

// Simdgroups is a *FamilyError on a device that cannot multiply matrices of
// simdgroups or reduce over them. Such a device, as the virtual ones of hosted
// runners, still runs kernels without these. It is asked before anything is
// compiled.
func (d *Device) Simdgroups() error {
	if d.family.Apple < simdFamily {
		return &FamilyError{Device: d.info.Name, Family: d.family}
	}
	return nil
}
