package machine

import (
	"bytes"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// unlimited is from where on a limit is none: version 1 writes the largest number
// of whole pages where there is none.
const unlimited = 1 << 60

// group is how a version of Linux's control groups tells what a group may take.
// The files are described in Documentation/admin-guide/cgroup-v2.rst and
// cgroup-v1/memory.rst.
type group struct {
	limit, usage string   // bytes of memory
	cache        []string // lines of memory.stat: the file pages that can be taken back
	swapLimit    string   // bytes of swap, or where swapUsage counts memory too, of both
	swapUsage    string
	both         bool
}

var (
	version1 = group{"memory.limit_in_bytes", "memory.usage_in_bytes", []string{"total_active_file", "total_inactive_file"}, "memory.memsw.limit_in_bytes", "memory.memsw.usage_in_bytes", true}
	version2 = group{"memory.max", "memory.current", []string{"active_file", "inactive_file"}, "memory.swap.max", "memory.swap.current", false}
)

// grouped returns how much memory the control groups of this process let it take
// still, swap of the system's included: a container's limit, beyond which the system
// ends the process although the machine has more. ok is false where none sets a
// limit. root is the system's root folder.
func grouped(root fs.FS, swap int64) (n int64, ok bool) {
	n = math.MaxInt64
	for _, m := range mounts(root) {
		for dir := m.dir; ; dir = path.Dir(dir) {
			if left, limited := m.group.left(root, dir, swap); limited {
				n, ok = min(n, left), true
			}
			if dir == m.top || dir == "." {
				break
			}
		}
	}
	return max(n, 0), ok
}

// mount is where the groups of this process lie: its own one, and the topmost that
// can be seen.
type mount struct {
	group    *group
	dir, top string
}

// mounts finds them: /proc/self/cgroup names the process's group in each hierarchy,
// and /proc/self/mountinfo where the hierarchies, or parts of them, are mounted.
func mounts(root fs.FS) (all []mount) {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	info, err := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(groups)) { // 4:memory:/docker/7c1f or 0::/user.slice
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) != 3 {
			continue
		}
		g, kind := &version1, "cgroup"
		switch {
		case f[1] == "":
			g, kind = &version2, "cgroup2"
		case !listed(f[1], "memory"):
			continue
		}
		for line := range strings.Lines(string(info)) {
			top, within, ok := mountedAt(line, kind)
			if !ok {
				continue
			}
			dir := top
			if below, ok := strings.CutPrefix(f[2], strings.TrimSuffix(within, "/")); ok {
				dir = path.Join(top, below)
			}
			all = append(all, mount{g, dir, top})
			break
		}
	}
	return all
}

// mountedAt reads a line of mountinfo: where a hierarchy of that kind that has
// memory groups is mounted, and which of its groups is the topmost one there.
//
//	35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
func mountedAt(line, kind string) (top, within string, ok bool) {
	at, what, ok := strings.Cut(line, " - ")
	f, g := strings.Fields(at), strings.Fields(what)
	if !ok || len(f) < 5 || len(g) < 3 || g[0] != kind || kind == "cgroup" && !listed(g[2], "memory") {
		return "", "", false
	}
	return strings.TrimPrefix(f[4], "/"), f[3], true
}

// listed says whether a list with commas has word.
func listed(list, word string) bool { return slices.Contains(strings.Split(list, ","), word) }

// left returns what a group may take still; limited is false where it has no limit.
func (g *group) left(root fs.FS, dir string, swap int64) (n int64, limited bool) {
	number := func(name string) (int64, bool) {
		b, err := fs.ReadFile(root, path.Join(dir, name))
		if err != nil {
			return 0, false
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64) // version 2 writes "max" for none
		return n, err == nil && n < unlimited
	}
	limit, limited := number(g.limit)
	usage, told := number(g.usage)
	if !limited || !told {
		return 0, false
	}
	var cache int64
	stat, _ := fs.ReadFile(root, path.Join(dir, "memory.stat")) // without, nothing can be taken back
	for line := range strings.Lines(string(stat)) {
		for _, name := range g.cache {
			if text, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), name+" "); ok {
				if n, err := strconv.ParseInt(text, 10, 64); err == nil {
					cache += n
				}
			}
		}
	}
	n = limit - usage + cache
	switch most, ok := number(g.swapLimit); {
	case !ok:
		return n + swap, true
	case g.both:
		used, _ := number(g.swapUsage)
		return min(n+swap, most-used+cache), true
	default:
		used, _ := number(g.swapUsage)
		return n + min(swap, max(0, most-used)), true
	}
}
