package machine

import (
	"io/fs"
	"math"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// files of machines that are not here, as their systems show them.
var (
	laptop = fstest.MapFS{
		"proc/loadavg": text("0.85 1.79 2.48 4/108 29048\n"),
		"proc/cpuinfo": text("processor\t: 0\nmodel name\t: Intel(R) Core(TM) i7-8550U CPU @ 1.80GHz\ncpu MHz\t\t: 800.0\n\nprocessor\t: 1\nmodel name\t: Intel(R) Core(TM) i7-8550U CPU @ 1.80GHz\ncpu MHz\t\t: 900.0\n"),
		// user 10 s, nice 1, system 2, idle 100, iowait 5, irq 0.5, softirq 0.25, steal 0.25, guest 3 (in user)
		"proc/stat": text("cpu  1000 100 200 10000 500 50 25 25 300 0\ncpu0 500 50 100 5000 250 25 12 12 150 0\nintr 1\n"),
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq":                text("3400000\n"),
		"sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq":                text("2600000\n"),
		"sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq":             text("1\n"),
		"sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count":    text("3\n"),
		"sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count": text("4\n"),
		"sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count":    text("0\n"),
		"sys/class/thermal/thermal_zone0/temp":                                text("44000\n"),
		"sys/class/thermal/thermal_zone0/type":                                text("acpitz\n"),
		"sys/class/thermal/thermal_zone1/temp":                                text("71500\n"),
		"sys/class/thermal/thermal_zone1/type":                                text("x86_pkg_temp\n"),
	}
	board = fstest.MapFS{
		"proc/cpuinfo":           text("processor\t: 0\nBogoMIPS\t: 108.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n"),
		"proc/device-tree/model": text("Raspberry Pi 4 Model B Rev 1.4\x00"),
	}
	server = fstest.MapFS{
		"proc/cpuinfo": text("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n"),
	}
	broken = fstest.MapFS{
		"proc/loadavg": text("much"),
		"proc/stat":    text("cpu 1 2 x 4 5 6 7 8\n"),
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": text("<unknown>\n"),
	}
)

func text(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

// TestLastCache: that of the highest level counts, and none of instructions.
func TestLastCache(t *testing.T) {
	const dir = "sys/devices/system/cpu/cpu0/cache/index"
	caches := fstest.MapFS{}
	index := func(n, level, kind, size string) {
		caches[dir+n+"/level"], caches[dir+n+"/type"], caches[dir+n+"/size"] = text(level+"\n"), text(kind+"\n"), text(size+"\n")
	}
	hold := func(want int64) {
		t.Helper()
		if got := (files{caches}).lastCache(); got != want {
			t.Errorf("%d bytes, not %d", got, want)
		}
	}
	hold(0)
	index("0", "1", "Data", "48K")
	index("1", "1", "Instruction", "64K")
	hold(48 << 10)
	index("2", "2", "Unified", "1280K")
	hold(1280 << 10)
	index("3", "3", "Unified", "36M")
	hold(36 << 20)
	index("4", "4", "Unified", "many")
	hold(36 << 20)
	index("4", "4", "Unified", "-3K")
	hold(36 << 20)
	index("4", "4", "Unified", "99999999999999999999K")
	hold(36 << 20)
}

func TestFiles(t *testing.T) {
	for _, c := range []struct {
		name      string
		fs        fs.FS
		cpu       string
		load, mhz float64
		busy      time.Duration // negative: not readable
		throttled int64
		thermal   string
	}{
		{"laptop", laptop, "Intel(R) Core(TM) i7-8550U CPU @ 1.80GHz", 0.85, 3000, 14 * time.Second, 7, "x86_pkg_temp 71.5 °C"},
		{"board", board, "Raspberry Pi 4 Model B Rev 1.4", -1, -1, -1, -1, ""},
		{"server", server, "implementer 0x41 part 0xd40", -1, -1, -1, -1, ""},
		{"broken", broken, "", -1, -1, -1, -1, ""},
		{"nothing", fstest.MapFS{}, "", -1, -1, -1, -1, ""},
	} {
		f := files{c.fs}
		if got := f.cpuName(); got != c.cpu {
			t.Errorf("%s: processor %q, want %q", c.name, got, c.cpu)
		}
		if got := f.load(); got != c.load {
			t.Errorf("%s: load %v, want %v", c.name, got, c.load)
		}
		if got := f.frequency(); got != c.mhz {
			t.Errorf("%s: %v MHz, want %v", c.name, got, c.mhz)
		}
		if got, ok := f.busy(); ok != (c.busy >= 0) || ok && got != c.busy {
			t.Errorf("%s: busy %v, %v, want %v", c.name, got, ok, c.busy)
		}
		if n, s := f.thermal(); n != c.throttled || s != c.thermal {
			t.Errorf("%s: throttled %d, %q, want %d, %q", c.name, n, s, c.throttled, c.thermal)
		}
	}
	delete(laptop, "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq")
	delete(laptop, "sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq")
	if got := (files{laptop}).frequency(); got != 850 {
		t.Errorf("without cpufreq: %v MHz, want the mean of /proc/cpuinfo, 850", got)
	}
}

func TestHugePages(t *testing.T) {
	if _, ok := (files{fstest.MapFS{}}).hugePages(); ok {
		t.Error("huge pages without the kernel's file")
	}
	for content, want := range map[string]string{
		"always [madvise] never\n": "madvise", "[always] madvise never\n": "always", "always madvise [never]\n": "never", "": "",
	} {
		root := fstest.MapFS{HugePagesFile[1:]: text(content)}
		if mode, ok := (files{root}).hugePages(); mode != want || !ok {
			t.Errorf("%q: %q, %v; want %q", content, mode, ok, want)
		}
	}
}

// TestHost compares with what the system's own commands print.
func TestHost(t *testing.T) {
	h := Host()
	if h.OS != runtime.GOOS || h.Arch != runtime.GOARCH || h.Cores < 1 {
		t.Errorf("host %+v", h)
	}
	if runtime.GOOS != "linux" {
		return
	}
	if out, err := exec.Command("uname", "-r").Output(); err == nil && strings.TrimSpace(string(out)) != h.Build {
		t.Errorf("build %q, uname says %q", h.Build, out)
	}
	if h.MemoryBytes < 1<<26 || h.CPU == "" {
		t.Errorf("memory %d, processor %q", h.MemoryBytes, h.CPU)
	}
}

func TestClockIsSharedByProcesses(t *testing.T) {
	a := Clock()
	if a == 0 {
		t.Skip("SKIP: needs a system with a monotonic clock that processes share")
	}
	begun := time.Now()
	time.Sleep(20 * time.Millisecond)
	passed, want := time.Duration(Clock()-a), time.Since(begun)
	if diff := want - passed; diff.Abs() > 10*time.Millisecond {
		t.Errorf("%v passed by the system's clock, %v by Go's", passed, want)
	}
}

// TestOtherCores: a process that spins is seen, and its time is not seen again
// as others' once it is known to be our own.
func TestOtherCores(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIP: needs Linux, which tells how busy all processors are")
	}
	if _, ok := busyTime(); !ok {
		t.Skip("SKIP: needs /proc/stat")
	}
	var w Watch
	if m := w.Read(7); m.OtherCores != -1 || m.At != 7 {
		t.Errorf("the first reading is %+v, want no load of others at 7", m)
	}
	if m := w.Read(0); m.OtherCores != -1 {
		t.Errorf("a reading at once tells a load of %v", m.OtherCores)
	}
	hog := exec.Command("sh", "-c", "while :; do :; done")
	if err := hog.Start(); err != nil {
		t.Skipf("SKIP: needs sh: %v", err)
	}
	time.Sleep(600 * time.Millisecond)
	m := w.Read(0)
	if err := hog.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = hog.Wait()
	if m.OtherCores < 0.2 {
		t.Errorf("a process that spins keeps %v cores busy", m.OtherCores)
	}
}

// TestReadIsCheap holds the cost that the comment states.
func TestReadIsCheap(t *testing.T) {
	var w Watch
	best := time.Duration(math.MaxInt64)
	for range 20 {
		begun := time.Now()
		w.Read(0)
		best = min(best, time.Since(begun))
	}
	if best > time.Millisecond {
		t.Errorf("a reading took %v, want less than 1 ms", best)
	}
}

func TestFaults(t *testing.T) {
	major, minor := Faults()
	if runtime.GOOS == "linux" && (major < 0 || minor < 1) {
		t.Errorf("faults %d and %d", major, minor)
	}
}
