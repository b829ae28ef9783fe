//go:build !darwin

package apple

import "github.com/introgen/introgen/metalshim/apple/objc"

// systemLibraries refuses what is not given: this system has no Metal.
func systemLibraries(l objc.Libraries) (objc.Libraries, error) {
	if l.Runtime == "" || l.Foundation == "" || l.Metal == "" {
		return l, standInOnly()
	}
	return l, nil
}
