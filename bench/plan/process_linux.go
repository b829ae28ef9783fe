package plan

import "syscall"

// endWithParent has Linux kill a child whose parent is gone, however that was
// ended.
func endWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// rssUnit is that of ru_maxrss, getrusage(2).
const rssUnit = 1024
