package apple

import (
	"fmt"
	"regexp"
)

// ThermalState is NSProcessInfoThermalState.
type ThermalState int

// Thermal states, with Foundation's values. From serious on the system slows
// down.
const (
	ThermalNominal  ThermalState = 0
	ThermalFair     ThermalState = 1
	ThermalSerious  ThermalState = 2
	ThermalCritical ThermalState = 3
)

// String is "nominal", "fair", "serious" or "critical".
func (s ThermalState) String() string {
	names := [...]string{"nominal", "fair", "serious", "critical"}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("thermal state %d", int(s))
	}
	return names[s]
}

// Facts are what a recording says about the machine. The last four change
// while it runs.
type Facts struct {
	Device         string
	RegistryID     uint64
	Architecture   string // "applegpu_g13g", or "" before macOS 14
	Family         Family
	System         string // "14.5.0"
	Build          string // "23F79", or "" if the system's text has none
	Language       string // of sources that state none: "3.1"
	PhysicalMemory uint64 // bytes
	WorkingSet     uint64 // bytes that the device recommends to stay below
	UnifiedMemory  bool
	NoResidency    string // why buffers are in no residency set; "" if they are

	Thermal   ThermalState
	LowPower  bool   // low power mode is on
	Allocated uint64 // bytes of the process's buffers and textures on the device
	Cache     CacheFolder
}

// buildAtEnd is that of operatingSystemVersionString, "Version 14.5 (Build
// 23F79)", whose words and brackets are those of the user's language.
var buildAtEnd = regexp.MustCompile(`([0-9]+[A-Z][0-9]+[a-z]?)[)）]?$`)

// system is the system's version, "14.5.0", and its build, "" if its text has none.
func (p processInfo) system() (version, build string) {
	v := p.operatingSystemVersion()
	if m := buildAtEnd.FindStringSubmatch(p.operatingSystemVersionString()); m != nil {
		build = m[1]
	}
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch), build
}

// Language is the version that sources are compiled as which state none, "3.1".
func (d *Device) Language() string {
	return fmt.Sprintf("%d.%d", d.language>>16, d.language&0xffff)
}

// Facts reads them now.
func (d *Device) Facts() (Facts, error) {
	if err := d.usable("facts"); err != nil {
		return Facts{}, err
	}
	cache, err := Cache()
	if err != nil {
		return Facts{}, err
	}
	defer d.a.Push().Pop()
	p := d.a.process()
	system, build := p.system()
	f := Facts{
		Device: d.info.Name, RegistryID: d.info.RegistryID, Architecture: d.info.Architecture, Family: d.family,
		System: system, Build: build,
		Language:       d.Language(),
		PhysicalMemory: p.physicalMemory(),
		WorkingSet:     d.d.recommendedMaxWorkingSetSize(),
		UnifiedMemory:  d.info.UnifiedMemory,
		NoResidency:    d.residency.why,
		Thermal:        ThermalState(p.thermalState()),
		LowPower:       p.isLowPowerModeEnabled(),
		Allocated:      d.d.currentAllocatedSize(),
		Cache:          cache,
	}
	return f, nil
}

// String is one line: "macOS 14.5.0 (23F79), Apple M2, Apple8, Mac2, Metal3,
// MSL 3.1, no residency set: this system has none, thermal state nominal, low
// power mode off".
func (f Facts) String() string {
	system := f.System
	if f.Build != "" {
		system += " (" + f.Build + ")"
	}
	mode := "off"
	if f.LowPower {
		mode = "on"
	}
	set := "buffers in a residency set"
	if f.NoResidency != "" {
		set = "no residency set: " + f.NoResidency
	}
	return fmt.Sprintf("macOS %s, %s, %v, MSL %s, %s, thermal state %v, low power mode %s", system, f.Device, f.Family, f.Language, set, f.Thermal, mode)
}
