package clang

import "golang.org/x/sys/unix"

// look is what a path led to, links followed: nothing, or a file and when it last
// changed in any way.
type look struct {
	path  string
	there bool
	file  unix.Stat_t
}

func lookAt(path string) look {
	l := look{path: path}
	l.there = unix.Stat(path, &l.file) == nil
	if !l.there {
		l.file = unix.Stat_t{}
	}
	l.file.Atim = unix.Timespec{} // reading it is no change
	return l
}

// same says that all the paths lead to what they led to.
func same(looks []look) bool {
	for _, l := range looks {
		if lookAt(l.path) != l {
			return false
		}
	}
	return true
}
