package machine

import (
	"runtime"
	"testing"
	"testing/fstest"
)

func TestAvailable(t *testing.T) {
	for text, want := range map[string]int64{
		"MemTotal:       24594440 kB\nMemFree:  100 kB\nMemAvailable:   2048 kB\nSwapFree:  1024 kB\nHugePages_Total:       0\n": 3 << 20,
		"SwapFree:  0 kB\nMemAvailable:   1 kB\n":                   1 << 10,
		"SwapFree:  5 kB\nMemAvailable:   many kB\n":                -1,
		"MemFree:  100 kB\n":                                        -1,
		"MemAvailable:   99999999999999999999999999 kB\nMemFree: 1": -1,
		"": -1,
	} {
		if n, _, ok := available(text); ok != (want >= 0) || ok && n != want {
			t.Errorf("%q: %d, %v; want %d", text, n, ok, want)
		}
	}
	if n, ok := AvailableMemory(); !ok || n <= 0 {
		t.Errorf("this machine: %d, %v", n, ok)
	}
}

// TestResident: the second number of statm is what is in memory, and memory that a
// process touches becomes that.
func TestResident(t *testing.T) {
	for text, want := range map[string]int64{"5000 300 12 1 0 99 0": 300 << 12, "5000": -1, "5000 many": -1, "5000 0 0": -1, "5000 99999999999999 0": -1, "": -1} {
		if n, ok := resident(text, 1<<12); ok != (want > 0) || ok && n != want {
			t.Errorf("%q: %d, %v; want %d", text, n, ok, want)
		}
	}
	const size = 64 << 20
	before, _ := Resident()
	touched := make([]byte, size)
	for i := range touched {
		touched[i] = byte(i)
	}
	if after, ok := Resident(); !ok || after < before+size/2 {
		t.Errorf("%d MB are in memory, and %d before %d were touched", after>>20, before>>20, size>>20)
	}
	runtime.KeepAlive(touched)
}

// What control groups allow, as containers and services see it: the smallest limit
// from the process's own group up to what is mounted, with the file pages that can be
// taken back and the swap that the group may use.
func TestAvailableInAGroup(t *testing.T) {
	const mib = 1 << 20
	const meminfo = "MemAvailable:   1048576 kB\nSwapFree:  102400 kB\n" // 1024 and 100 MiB
	const v1 = "30 24 0:32 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
	const v2 = "24 23 0:21 / /sys rw - sysfs sysfs rw\n29 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64 // -1 where nothing tells
	}{
		"none": {nil, 1124 * mib},
		"version 2, the container sees its own group alone": {map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/memory.max": "536870912\n", "sys/fs/cgroup/memory.current": "104857600\n", "sys/fs/cgroup/memory.swap.max": "0\n", "sys/fs/cgroup/memory.swap.current": "0\n",
			"sys/fs/cgroup/memory.stat": "anon 1\nfile 31457280\ninactive_anon 99\ninactive_file 10485760\nactive_file 20971520\n",
		}, (512 - 100 + 30) * mib},
		"version 2, with swap of its own and without statistics": {map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/memory.max": "536870912\n", "sys/fs/cgroup/memory.current": "104857600\n", "sys/fs/cgroup/memory.swap.max": "62914560\n", "sys/fs/cgroup/memory.swap.current": "10485760\n",
		}, (512 - 100 + 50) * mib},
		"version 2, swap without limit": {map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/memory.max": "536870912\n", "sys/fs/cgroup/memory.current": "104857600\n", "sys/fs/cgroup/memory.swap.max": "max\n", "sys/fs/cgroup/memory.swap.current": "0\n",
		}, (512 - 100 + 100) * mib},
		"version 2, a group above is the narrower one": {map[string]string{
			"proc/self/cgroup": "0::/user.slice/a.service\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/user.slice/a.service/memory.max": "max\n", "sys/fs/cgroup/user.slice/a.service/memory.current": "5\n",
			"sys/fs/cgroup/user.slice/memory.max": "209715200\n", "sys/fs/cgroup/user.slice/memory.current": "104857600\n", "sys/fs/cgroup/user.slice/memory.swap.max": "0\n", "sys/fs/cgroup/user.slice/memory.swap.current": "0\n",
		}, 100 * mib},
		"version 2, more than the machine has": {map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/memory.max": "1099511627776\n", "sys/fs/cgroup/memory.current": "0\n",
		}, 1124 * mib},
		"version 2, over its limit": {map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/memory.max": "1048576\n", "sys/fs/cgroup/memory.current": "268435456\n",
		}, 0},
		"version 1, no limit": {map[string]string{
			"proc/self/cgroup": "5:cpu:/\n4:memory:/a\n0::/\n", "proc/self/mountinfo": v1,
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/memory/a/memory.usage_in_bytes": "1\n",
		}, 1124 * mib},
		"version 1, a container whose group is mounted at the top": {map[string]string{
			"proc/self/cgroup": "9:hugetlb:/docker/7c\n4:cpuset,memory:/docker/7c\n", "proc/self/mountinfo": "35 31 0:32 /docker/7c /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "536870912\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "104857600\n",
			"sys/fs/cgroup/memory/memory.stat": "inactive_file 1\ntotal_inactive_file 10485760\ntotal_active_file 20971520\n",
		}, (512 - 100 + 30 + 100) * mib},
		"version 1, memory and swap together": {map[string]string{
			"proc/self/cgroup": "4:memory:/a\n", "proc/self/mountinfo": v1,
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "536870912\n", "sys/fs/cgroup/memory/a/memory.usage_in_bytes": "104857600\n",
			"sys/fs/cgroup/memory/a/memory.memsw.limit_in_bytes": "536870912\n", "sys/fs/cgroup/memory/a/memory.memsw.usage_in_bytes": "115343360\n",
		}, (512 - 110) * mib},
		"a group that cannot be seen": {map[string]string{"proc/self/cgroup": "0::/../b\n", "proc/self/mountinfo": v2}, 1124 * mib},
		"no meminfo, but a limit": {map[string]string{
			"proc/meminfo": "", "proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/memory.max": "536870912\n", "sys/fs/cgroup/memory.current": "0\n",
		}, 512 * mib},
		"nothing": {map[string]string{"proc/meminfo": "", "proc/self/cgroup": ":\n\nx", "proc/self/mountinfo": " - \n- cgroup2\n"}, -1},
	} {
		root := fstest.MapFS{"proc/meminfo": {Data: []byte(meminfo)}}
		for path, text := range c.files {
			root[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if n, ok := availableIn(root); ok != (c.want >= 0) || ok && n != c.want {
			t.Errorf("%s: %d, %v; want %d", name, n, ok, c.want)
		}
	}
}
