package pages

import (
	"bytes"
	"os"
	"strconv"
)

// Available returns how many bytes of memory the system can give before it must
// end a program: what is free, what it can take back, and free swap. ok is false
// where it does not tell.
func Available() (n int64, ok bool) {
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	return available(info)
}

// available reads Linux's meminfo: "MemAvailable:   23078012 kB".
func available(info []byte) (n int64, ok bool) {
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
			n += kb << 10
		}
	}
	if !ok {
		return 0, false
	}
	return n, true
}
