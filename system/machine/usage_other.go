//go:build !unix

package machine

func usage() (used, bool) { return used{}, false }
