//go:build linux

package standin_test

// boolCode is the encoding of BOOL on an Apple silicon Mac.
const boolCode = "B"

// A large struct is returned by a pointer in a register of its own: there is
// one entry point, which cannot be the wrong one.
var structMisuses map[string]misuse
