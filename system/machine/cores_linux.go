package machine

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// PhysicalCores counts the cores behind the processors that this process may
// run on: of a core's hardware threads only one counts. How much of their time a
// control group allows is in runtime.GOMAXPROCS.
func PhysicalCores() int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return 1
	}
	cores := map[string]bool{}
	for left, cpu := set.Count(), 0; left > 0 && cpu < len(set)*64; cpu++ {
		if !set.IsSet(cpu) {
			continue
		}
		left--
		siblings, err := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
		if err != nil {
			siblings = fmt.Append(nil, cpu) // no topology: every processor counts
		}
		cores[strings.TrimSpace(string(siblings))] = true
	}
	return len(cores)
}
