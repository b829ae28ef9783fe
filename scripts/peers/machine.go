package main

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
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
func ThisMachine(ctx context.Context) Machine {
	m := Machine{Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if runtime.GOOS == "darwin" {
		m.CPU = say(ctx, "sysctl", "-n", "machdep.cpu.brand_string")
		m.native = m.CPU
		if n, err := strconv.ParseInt(say(ctx, "sysctl", "-n", "hw.memsize"), 10, 64); err == nil {
			m.Memory = strconv.FormatInt(n>>30, 10) + " GiB"
		}
		m.System += ", macOS " + say(ctx, "sw_vers", "-productVersion")
		return m
	}
	m.cpuinfo(read("/proc/cpuinfo"))
	m.Cache = sharedCache()
	for line := range strings.Lines(read("/proc/meminfo")) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemTotal:" {
			if kib, err := strconv.ParseInt(f[1], 10, 64); err == nil {
				m.Memory = strconv.FormatInt((kib+1<<19)>>20, 10) + " GiB"
			}
		}
	}
	m.System += ", Linux " + read("/proc/sys/kernel/osrelease")
	if _, rest, ok := strings.Cut(read("/sys/kernel/mm/transparent_hugepage/enabled"), "["); ok {
		m.Pages, _, _ = strings.Cut(rest, "]")
	}
	return m
}

// cpuinfo reads Linux's /proc/cpuinfo: the first processor stands for all.
func (m *Machine) cpuinfo(text string) {
	first, _, _ := strings.Cut(text, "\n\n")
	value := map[string]string{}
	for line := range strings.Lines(first) {
		if key, v, ok := strings.Cut(line, ":"); ok {
			value[strings.TrimSpace(key)] = strings.TrimSpace(v)
		}
	}
	m.CPU = value["model name"]
	if family := value["cpu family"]; family != "" {
		m.CPU += ", family " + family + " model " + value["model"]
	} else if part := value["CPU part"]; part != "" {
		m.CPU = strings.TrimPrefix(m.CPU+", implementer "+value["CPU implementer"]+" part "+part, ", ")
	}
	flags := strings.Fields(value["flags"] + " " + value["Features"])
	for _, f := range telling {
		if slices.Contains(flags, f) {
			m.Features = append(m.Features, f)
		}
	}
	m.native = m.CPU + strings.Join(flags, " ")
}

// has tells whether the processor has one of the telling features.
func (m Machine) has(feature string) bool { return slices.Contains(m.Features, feature) }

// sharedCache is the size of the largest cache of the first processor.
func sharedCache() string {
	for _, level := range []string{"3", "2"} {
		if size := read("/sys/devices/system/cpu/cpu0/cache/index" + level + "/size"); size != "" {
			return "L" + level + " " + size
		}
	}
	return ""
}

// loadAverage is the number of processes that ran or waited to run, on average
// over the last minute; 0 where the system does not say.
func loadAverage() float64 {
	word, _, _ := strings.Cut(read("/proc/loadavg"), " ")
	v, _ := strconv.ParseFloat(word, 64)
	return v
}

// read is a small file of the system, "" where there is none.
func read(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// say is what a program prints, "" where it fails.
func say(ctx context.Context, argv ...string) string {
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
