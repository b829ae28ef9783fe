package machine

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Memory is the machine's memory in bytes.
func Memory() int64 { return meminfo(files{root}.text("proc/meminfo"))["MemTotal"] }

// meminfo reads the sizes in Linux's meminfo, in bytes: "MemTotal:   23078012 kB".
func meminfo(text string) map[string]int64 {
	sizes := map[string]int64{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 3 || f[2] != "kB" {
			continue
		}
		if kb, err := strconv.ParseInt(f[1], 10, 50); err == nil {
			sizes[strings.TrimSuffix(f[0], ":")] = kb << 10
		}
	}
	return sizes
}

// Resident is how many bytes of this process are in memory; ok is false where the
// system does not tell.
func Resident() (n int64, ok bool) {
	return resident(files{root}.text("proc/self/statm"), os.Getpagesize())
}

// resident reads Linux's statm: the process's size, then what of it is in memory, both
// in pages.
func resident(text string, page int) (n int64, ok bool) {
	f := strings.Fields(text)
	if len(f) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(f[1], 10, 40)
	return pages * int64(page), err == nil && pages > 0
}

// AvailableMemory returns how many bytes of memory the system can give before it must
// end a program: what is free, what it can take back, and free swap, within the
// limits of the process's control groups (a container's). ok is false where it does
// not tell.
func AvailableMemory() (n int64, ok bool) { return availableIn(root) }

// availableIn is AvailableMemory with the root folder root.
func availableIn(root fs.FS) (n int64, ok bool) {
	n, swap, ok := available(files{root}.text("proc/meminfo"))
	switch left, limited := grouped(root, swap); {
	case limited && ok:
		return min(n, left), true
	case limited:
		return left, true
	}
	return n, ok
}

// available reads Linux's meminfo. Free swap, which is a part of n, comes out by
// itself too.
func available(text string) (n, swap int64, ok bool) {
	sizes := meminfo(text)
	n, ok = sizes["MemAvailable"]
	if swap = sizes["SwapFree"]; ok {
		n += swap
	}
	return n, swap, ok
}
