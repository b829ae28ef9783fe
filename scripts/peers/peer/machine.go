package peer

import (
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/introgen/introgen/system/machine"
)

// Machine is what a measurement was made on, as far as the system tells.
type Machine struct {
	CPU      string   `json:"cpu"`
	Cores    int      `json:"cores"`    // that the scheduler may use
	Features []string `json:"features"` // of those that kernels are chosen by
	Cache    string   `json:"cache"`
	Memory   string   `json:"memory"`
	System   string   `json:"system"`
	Pages    string   `json:"pages"` // transparent huge pages: always, madvise, never
	native   string   // changes when code compiled for this processor may not run on another
}

// telling are the features that one of the engines chooses its kernels by.
var telling = []string{
	"avx2", "f16c", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_int8", // x86: flags
	"asimd", "asimddp", "i8mm", "sve", "sme", // arm64: Features
}

// ThisMachine describes the machine. What cannot be found out stays empty.
func ThisMachine() Machine {
	host := machine.Host()
	m := Machine{Cores: host.Cores, Cache: machine.LargestCache(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if host.MemoryBytes > 0 {
		m.Memory = strconv.FormatInt((host.MemoryBytes+1<<29)>>30, 10) + " GiB"
	}
	m.Pages, _ = machine.HugePages()
	if runtime.GOOS == "darwin" {
		m.CPU, m.native = host.CPU, host.CPU
		version, _, _ := strings.Cut(host.Build, " (") // the build's number says no more
		m.System += ", " + version
		return m
	}
	m.processor(machine.CPUInfo())
	m.System += ", Linux " + host.Build
	return m
}

// processor takes what Linux tells of the first processor, which stands for all.
func (m *Machine) processor(info map[string]string) {
	m.CPU = info["model name"]
	if family := info["cpu family"]; family != "" {
		m.CPU += ", family " + family + " model " + info["model"]
	} else if part := info["CPU part"]; part != "" {
		m.CPU = strings.TrimPrefix(m.CPU+", implementer "+info["CPU implementer"]+" part "+part, ", ")
	}
	flags := strings.Fields(info["flags"] + " " + info["Features"])
	for _, f := range telling {
		if slices.Contains(flags, f) {
			m.Features = append(m.Features, f)
		}
	}
	m.native = m.CPU + strings.Join(flags, " ")
}

// has tells whether the processor has one of the telling features.
func (m Machine) has(feature string) bool { return slices.Contains(m.Features, feature) }
