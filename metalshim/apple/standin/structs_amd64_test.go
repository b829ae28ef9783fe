//go:build linux

package standin_test

// boolCode is the encoding of BOOL on an Intel Mac: a signed char.
const boolCode = "c"

// A large struct is returned by a pointer in the first register, which another
// entry point is for.
var structMisuses = map[string]misuse{
	"struct result by objc_msgSend": {`maxThreadsPerThreadgroup\]: returns a large struct: objc_msgSend_stret is needed`, func(w *world) {
		w.send(w.dev, "maxThreadsPerThreadgroup")
	}},
	"word result by objc_msgSend_stret": {`registryID\]: sent by objc_msgSend_stret, but it returns no large struct`, func(w *world) {
		w.call("objc_msgSend_stret", address(&[3]uint64{}), w.dev, w.sel("registryID"))
	}},
}
