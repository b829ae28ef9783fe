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

// made is the object that send makes, +1, or the NSError that it leaves at why,
// which is read where there is no object, and only there.
func (a *api) made(send func(why *id) id) (object, error) {
	var why id
	x := object{a, send(&why)}
	if x.nothing() {
		return x, a.Error(why)
	}
	return x, nil
}

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
	return processInfo{object{a, objc.Get(&a.m.ProcessInfo, a.info)}}
}

// operatingSystemVersion is -[NSProcessInfo operatingSystemVersion].
func (p processInfo) operatingSystemVersion() objc.Version {
	return objc.Get(&p.a.m.InfoSystemVersion, p.o)
}

// operatingSystemVersionString is -[NSProcessInfo operatingSystemVersionString].
func (p processInfo) operatingSystemVersionString() string {
	return p.a.String(objc.Get(&p.a.m.InfoSystemName, p.o))
}

// physicalMemory is -[NSProcessInfo physicalMemory], in bytes.
func (p processInfo) physicalMemory() uint64 { return objc.Get(&p.a.m.InfoPhysicalMemory, p.o) }

// thermalState is -[NSProcessInfo thermalState].
func (p processInfo) thermalState() int64 { return objc.Get(&p.a.m.InfoThermalState, p.o) }

// isLowPowerModeEnabled is -[NSProcessInfo isLowPowerModeEnabled].
func (p processInfo) isLowPowerModeEnabled() bool { return objc.Get(&p.a.m.InfoLowPower, p.o) }
