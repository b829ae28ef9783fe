package apple

import (
	"github.com/ebitengine/purego"
	"github.com/introgen/introgen/metalshim/apple/objc"
)

// Paths of the system's libraries. They lie in the dyld cache, not on disk.
const (
	libobjc      = "/usr/lib/libobjc.A.dylib"
	coreGraphics = "/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics"
	foundation   = "/System/Library/Frameworks/Foundation.framework/Foundation"
	metal        = "/System/Library/Frameworks/Metal.framework/Metal"
)

// systemLibraries fills in what is not given.
func systemLibraries(l objc.Libraries) (objc.Libraries, error) {
	if l.Runtime == "" {
		l.Runtime = libobjc
	}
	if l.Foundation == "" {
		l.Foundation = foundation
	}
	if l.Metal == "" {
		l.Metal = metal
		// "The system provides a default device object only to a process that
		// links CoreGraphics" (Apple, MTLCreateSystemDefaultDevice). Without
		// it the list of all devices still serves, so an error does not count.
		_, _ = purego.Dlopen(coreGraphics, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	}
	return l, nil
}
