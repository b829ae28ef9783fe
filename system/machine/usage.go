package machine

import (
	"syscall"
	"time"
)

func usage() (used, bool) {
	var self, children syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &self) != nil ||
		syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children) != nil {
		return used{}, false
	}
	var sum int64
	for _, t := range []syscall.Timeval{self.Utime, self.Stime, children.Utime, children.Stime} {
		sum += t.Nano()
	}
	return used{cpu: time.Duration(sum), major: self.Majflt, minor: self.Minflt}, true
}
