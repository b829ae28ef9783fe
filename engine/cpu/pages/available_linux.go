package pages

import (
	"bytes"
	"io/fs"
	"os"
	"strconv"
)

// Available returns how many bytes of memory the system can give before it must
// end a program: what is free, what it can take back, and free swap, within the
// limits of the process's control groups (a container's). ok is false where it does
// not tell.
func Available() (n int64, ok bool) { return availableIn(os.DirFS("/")) }

// availableIn is Available with the root folder root.
func availableIn(root fs.FS) (n int64, ok bool) {
	var swap int64
	if info, err := fs.ReadFile(root, "proc/meminfo"); err == nil {
		n, swap, ok = available(info)
	}
	switch left, limited := grouped(root, swap); {
	case limited && ok:
		return min(n, left), true
	case limited:
		return left, true
	}
	return n, ok
}

// available reads Linux's meminfo: "MemAvailable:   23078012 kB". Free swap, which
// is a part of n, comes out by itself too.
func available(info []byte) (n, swap int64, ok bool) {
	for line := range bytes.Lines(info) {
		f := bytes.Fields(line)
		if len(f) != 3 || string(f[2]) != "kB" {
			continue
		}
		kb, err := strconv.ParseInt(string(f[1]), 10, 50)
		if err != nil {
			continue
		}
		switch string(f[0]) {
		case "MemAvailable:":
			n, ok = n+kb<<10, true
		case "SwapFree:":
			n, swap = n+kb<<10, kb<<10
		}
	}
	if !ok {
		return 0, swap, false
	}
	return n, swap, true
}
