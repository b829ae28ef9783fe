package machine

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/introgen/introgen/figures"
)

// files reads the files that Linux shows its state in (proc(5), and
// Documentation/admin-guide/{cputopology,pm/cpufreq} and
// driver-api/thermal/sysfs-api of the kernel). It stands apart from the system
// so that it can be tested with the files of other machines.
type files struct{ root fs.FS }

var root = os.DirFS("/")

// mostProcessors bounds how many processors' files are read: every reading of a
// frequency may wake a processor up.
const mostProcessors = 16

// tick is the unit of /proc/stat: USER_HZ is 100 on every architecture that Go
// runs on.
const tick = 10 * time.Millisecond

func (f files) text(name string) string {
	b, err := fs.ReadFile(f.root, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// number is a file's one number, or -1.
func (f files) number(name string) int64 {
	n, err := strconv.ParseInt(f.text(name), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func (f files) matching(pattern string) []string {
	names, err := fs.Glob(f.root, pattern)
	if err != nil {
		return nil
	}
	return names[:min(len(names), mostProcessors)]
}

func (f files) load() float64 { return parseLoad(f.text("proc/loadavg")) }

// cpuName is the processor's name: that of /proc/cpuinfo, or where that has
// none, as on arm64, the board's, or the part's number.
func (f files) cpuName() string {
	info := ParseCPUInfo(f.text("proc/cpuinfo"))
	if s := info["model name"]; s != "" {
		return s
	}
	for _, name := range []string{"proc/device-tree/model", "sys/devices/virtual/dmi/id/product_name"} {
		if s := strings.Trim(f.text(name), "\x00 "); s != "" {
			return s
		}
	}
	if i, p := info["CPU implementer"], info["CPU part"]; i != "" && p != "" {
		return fmt.Sprintf("implementer %s part %s", i, p)
	}
	return ""
}

func (f files) largestCache() string {
	for _, level := range []string{"3", "2"} {
		if size := f.text("sys/devices/system/cpu/cpu0/cache/index" + level + "/size"); size != "" {
			return "L" + level + " " + size
		}
	}
	return ""
}

// lastCache is the size of the first processor's cache of the highest level, in bytes:
// "32768K" for the kernel. Caches of instructions alone do not count.
func (f files) lastCache() (bytes int64) {
	highest := int64(0)
	for _, dir := range f.matching("sys/devices/system/cpu/cpu0/cache/index[0-9]*") {
		text, suffix := f.text(dir+"/size"), int64(1)
		switch {
		case strings.HasSuffix(text, "K"):
			suffix = 1 << 10
		case strings.HasSuffix(text, "M"):
			suffix = 1 << 20
		}
		n, err := strconv.ParseInt(strings.TrimRight(text, "KM"), 10, 40)
		level := f.number(dir + "/level")
		if err != nil || n <= 0 || level < highest || f.text(dir+"/type") == "Instruction" {
			continue
		}
		highest, bytes = level, n*suffix
	}
	return bytes
}

// hugePages reads the word in brackets of "always [madvise] never".
func (f files) hugePages() (mode string, ok bool) {
	b, err := fs.ReadFile(f.root, strings.TrimPrefix(HugePagesFile, "/"))
	_, rest, _ := strings.Cut(string(b), "[")
	mode, _, _ = strings.Cut(rest, "]")
	return mode, err == nil
}

// busy is the processor time that was not idle, of all processors since the
// start of the machine. What the host of a virtual machine gave to others
// counts: it is not there for us.
func (f files) busy() (time.Duration, bool) {
	line, _, _ := strings.Cut(f.text("proc/stat"), "\n")
	fields := strings.Fields(line)
	// cpu user nice system idle iowait irq softirq steal; guests are in user.
	if len(fields) < 8 || fields[0] != "cpu" {
		return 0, false
	}
	var ticks int64
	for i, s := range fields[1:min(len(fields), 9)] {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return 0, false
		}
		if i != 3 && i != 4 {
			ticks += n
		}
	}
	return time.Duration(ticks) * tick, true
}

// frequency is the mean of the processors' clocks in MHz.
func (f files) frequency() float64 {
	var sum float64
	n := 0
	for _, name := range f.matching("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq") {
		if kHz := f.number(name); kHz > 0 {
			sum, n = sum+float64(kHz)/1e3, n+1
		}
	}
	if n == 0 {
		for line := range strings.Lines(f.text("proc/cpuinfo")) {
			k, v, _ := strings.Cut(line, ":")
			if strings.TrimSpace(k) != "cpu MHz" {
				continue
			}
			if mhz, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil && mhz > 0 {
				sum, n = sum+mhz, n+1
			}
		}
	}
	if n == 0 {
		return -1
	}
	return sum / float64(n)
}

// thermal is how often processors were slowed down for their heat, and the
// hottest thermal zone in words.
func (f files) thermal() (throttled int64, hottest string) {
	throttled = -1
	for _, kind := range []string{"core", "package"} {
		for _, name := range f.matching("sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/" + kind + "_throttle_count") {
			if n := f.number(name); n >= 0 {
				throttled = max(throttled, 0) + n
			}
		}
	}
	most := int64(-1)
	for _, name := range f.matching("sys/class/thermal/thermal_zone[0-9]*/temp") {
		if t := f.number(name); t > most {
			most = t
			hottest = fmt.Sprintf("%s %s °C", f.text(path.Join(path.Dir(name), "type")), figures.Text(float64(t)/1e3, 0))
		}
	}
	return throttled, hottest
}
