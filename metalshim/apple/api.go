package apple

import (
	"fmt"
	"sync"

	"github.com/introgen/introgen/metalshim/apple/objc"
)

// api is a loaded runtime with the driver's messages and classes. The types
// named mtl… wrap it: one method for each selector, and nothing else, no
// check, no pool. What returns an id that it does not own says so; whatever
// sends these messages does it within a pool, except that the setters and
// getters of words, which have nothing to autorelease, need none.
type api struct {
	*objc.Runtime
	m messages

	options, values, pipelineDescriptor, archiveDescriptor, info objc.Class
	residencyDescriptor                                          objc.Class // 0 before macOS 15

	once     sync.Once
	handlers *handlers
}

var loaded struct {
	sync.Mutex
	by map[objc.Libraries]*api
}

// load loads Apple's libraries, or what is given instead. Libraries are never
// unloaded, so each set is loaded once.
func load(l objc.Libraries) (*api, error) {
	l, err := systemLibraries(l)
	if err != nil {
		return nil, err
	}
	loaded.Lock()
	defer loaded.Unlock()
	if a := loaded.by[l]; a != nil {
		return a, nil
	}
	a, err := loadAPI(l)
	if err != nil {
		return nil, fmt.Errorf("apple metal driver: %w", err)
	}
	if loaded.by == nil {
		loaded.by = map[objc.Libraries]*api{}
	}
	loaded.by[l] = a
	return a, nil
}

// object is an object and how to talk to it.
type object struct {
	a *api
	o id
}

// release gives up one share of the ownership.
func (x object) release() { x.a.Release(x.o) }

// nothing tells whether it is nil.
func (x object) nothing() bool { return x.o == 0 }

func loadAPI(l objc.Libraries) (*api, error) {
	rt, err := objc.Load(l)
	if err != nil {
		return nil, err
	}
	a := &api{Runtime: rt}
	if err := objc.Bind(rt, &a.m); err != nil {
		return nil, err
	}
	for name, to := range map[string]*objc.Class{
		"MTLCompileOptions":            &a.options,
		"MTLFunctionConstantValues":    &a.values,
		"MTLComputePipelineDescriptor": &a.pipelineDescriptor,
		"MTLBinaryArchiveDescriptor":   &a.archiveDescriptor,
		"NSProcessInfo":                &a.info,
	} {
		if *to, err = rt.Class(name); err != nil {
			return nil, err
		}
	}
	if c, err := rt.Class("MTLResidencySetDescriptor"); err == nil {
		a.residencyDescriptor = c
	}
	return a, nil
}

// processInfo is NSProcessInfo.
type processInfo struct{ object }

// process is +[NSProcessInfo processInfo].
func (a *api) process() processInfo {
	m := &a.m.ProcessInfo
	return processInfo{object{a, m.Send(a.info, m.SEL)}}
}

// operatingSystemVersion is -[NSProcessInfo operatingSystemVersion].
func (p processInfo) operatingSystemVersion() objc.Version {
	m := &p.a.m.InfoSystemVersion
	return m.Send(p.o, m.SEL)
}

// operatingSystemVersionString is -[NSProcessInfo operatingSystemVersionString].
func (p processInfo) operatingSystemVersionString() string {
	m := &p.a.m.InfoSystemName
	return p.a.String(m.Send(p.o, m.SEL))
}

// physicalMemory is -[NSProcessInfo physicalMemory], in bytes.
func (p processInfo) physicalMemory() uint64 {
	m := &p.a.m.InfoPhysicalMemory
	return m.Send(p.o, m.SEL)
}

// thermalState is -[NSProcessInfo thermalState].
func (p processInfo) thermalState() int64 {
	m := &p.a.m.InfoThermalState
	return m.Send(p.o, m.SEL)
}

// isLowPowerModeEnabled is -[NSProcessInfo isLowPowerModeEnabled].
func (p processInfo) isLowPowerModeEnabled() bool {
	m := &p.a.m.InfoLowPower
	return m.Send(p.o, m.SEL)
}
