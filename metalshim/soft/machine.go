package soft

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// cpuFields reads the lines of the first processor in /proc/cpuinfo.
var cpuFields = sync.OnceValue(func() map[string]string {
	fields := map[string]string{}
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return fields
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan() && s.Text() != ""; {
		if k, v, ok := strings.Cut(s.Text(), ":"); ok {
			fields[strings.TrimSpace(k)] = strings.TrimSpace(v)
		}
	}
	return fields
})

// cpuName is the processor's name for people.
func cpuName() string {
	if n := cpuFields()["model name"]; n != "" {
		return n
	}
	return runtime.GOARCH
}

// cpuIdentity is what code for this processor depends on.
func cpuIdentity() string {
	f := cpuFields()
	var b strings.Builder
	b.WriteString(runtime.GOOS + "/" + runtime.GOARCH)
	for _, k := range []string{"vendor_id", "cpu family", "model", "stepping", "flags", "CPU implementer", "CPU part", "CPU variant", "Features"} {
		b.WriteString("\x00" + f[k])
	}
	return b.String()
}

// machineMemory is the machine's memory in bytes; 8 GiB where it is unknown.
func machineMemory() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 8 << 30
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "MemTotal:"); ok {
			if kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64); err == nil {
				return kb << 10
			}
		}
	}
	return 8 << 30
}
