package soft

import (
	"cmp"
	"runtime"
	"strings"

	"github.com/introgen/introgen/system/machine"
)

// cpuName is the processor's name for people.
func cpuName() string { return cmp.Or(machine.CPUInfo()["model name"], runtime.GOARCH) }

// cpuIdentity is what code for this processor depends on.
func cpuIdentity() string {
	info := machine.CPUInfo()
	var b strings.Builder
	b.WriteString(runtime.GOOS + "/" + runtime.GOARCH)
	for _, k := range []string{"vendor_id", "cpu family", "model", "stepping", "flags", "CPU implementer", "CPU part", "CPU variant", "Features"} {
		b.WriteString("\x00" + info[k])
	}
	return b.String()
}

// machineMemory is the machine's memory in bytes; 8 GiB where it is unknown.
func machineMemory() int64 { return cmp.Or(machine.Memory(), 8<<30) }
