//go:build !linux

package plan

import "syscall"

// endWithParent: only Linux can be asked to end a child with its parent.
func endWithParent() *syscall.SysProcAttr { return nil }

// rssUnit is that of ru_maxrss: bytes on macOS.
const rssUnit = 1
