package introgen_test

import (
	"bufio"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/introgen/introgen"

// room is a line of docs/imports.txt: folders, and what they may see.
type room struct {
	name    string
	folders []string
	sees    []string
	line    int
}

// depth is how much of a package's path the room's longest folder that holds it
// makes up; 0 if none does.
func (r room) depth(pkg string) int {
	longest := 0
	for _, folder := range r.folders {
		if pkg == folder || strings.HasPrefix(pkg, folder+"/") {
			longest = max(longest, len(folder))
		}
	}
	return longest
}

// roomOf is the room that a package belongs to.
func roomOf(rooms []room, pkg string) (room, bool) {
	if len(rooms) == 0 {
		return room{}, false
	}
	r := slices.MaxFunc(rooms, func(a, b room) int { return a.depth(pkg) - b.depth(pkg) })
	return r, r.depth(pkg) > 0
}

// readRooms reads docs/imports.txt. Lines that begin with # are for people.
func readRooms(t *testing.T) []room {
	t.Helper()
	f, err := os.Open("docs/imports.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rooms []room
	s := bufio.NewScanner(f)
	for n := 1; s.Scan(); n++ {
		text := strings.TrimSpace(s.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		name, rest, ok := strings.Cut(text, ":")
		folders, sees, _ := strings.Cut(rest, "->")
		r := room{name, strings.Fields(folders), strings.Fields(sees), n}
		if !ok || len(r.folders) == 0 || slices.ContainsFunc(rooms, func(o room) bool { return o.name == name }) {
			t.Fatalf("docs/imports.txt:%d: %q is not `room: folders -> rooms`, or stands there twice", n, text)
		}
		for _, other := range r.sees {
			if !slices.ContainsFunc(rooms, func(o room) bool { return o.name == other }) {
				t.Errorf("docs/imports.txt:%d: %s sees %s, which does not stand above it", n, name, other)
			}
		}
		rooms = append(rooms, r)
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return rooms
}

// readImports returns what each package of the project imports of the project,
// whatever the platform and the tags, but without its tests.
func readImports(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string]map[string]bool{}
	for name, text := range tracked(t) {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		pkg := path.Dir(name)
		if found[pkg] == nil {
			found[pkg] = map[string]bool{}
		}
		for _, i := range f.Imports {
			full, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if rel, ok := strings.CutPrefix(full, module+"/"); ok {
				found[pkg][rel] = true
			}
		}
	}
	out := map[string][]string{}
	for pkg, imports := range found {
		out[pkg] = slices.Sorted(maps.Keys(imports))
	}
	return out
}

// TestImportGraph holds every package to docs/imports.txt: it belongs to a room,
// and imports only what its room may see.
func TestImportGraph(t *testing.T) {
	rooms, imports := readRooms(t), readImports(t)
	for _, pkg := range slices.Sorted(maps.Keys(imports)) {
		mine, ok := roomOf(rooms, pkg)
		if !ok {
			t.Errorf("package %s belongs to no room of docs/imports.txt: add its folder to one", pkg)
			continue
		}
		for _, imported := range imports[pkg] {
			theirs, ok := roomOf(rooms, imported)
			if ok && theirs.name != mine.name && !slices.Contains(mine.sees, theirs.name) {
				t.Errorf("package %s imports %s: docs/imports.txt:%d does not let room %s see room %s", pkg, imported, mine.line, mine.name, theirs.name)
			}
		}
	}
}

// TestImportRulesAreTight finds folders that are not there, and allowances that
// nobody uses, since they would let a wrong import pass later.
func TestImportRulesAreTight(t *testing.T) {
	rooms, imports := readRooms(t), readImports(t)
	used := map[string]map[string]bool{}
	for pkg, imported := range imports {
		mine, _ := roomOf(rooms, pkg)
		if used[mine.name] == nil {
			used[mine.name] = map[string]bool{}
		}
		for _, i := range imported {
			theirs, _ := roomOf(rooms, i)
			used[mine.name][theirs.name] = true
		}
	}
	for _, r := range rooms {
		for _, other := range r.sees {
			if !used[r.name][other] {
				t.Errorf("docs/imports.txt:%d lets %s see %s, which it does not", r.line, r.name, other)
			}
		}
		for _, folder := range r.folders {
			alone := []room{{name: r.name, folders: []string{folder}}}
			if !slices.ContainsFunc(slices.Collect(maps.Keys(imports)), func(pkg string) bool { _, in := roomOf(alone, pkg); return in }) {
				t.Errorf("docs/imports.txt:%d names %s, where no package is", r.line, folder)
			}
		}
	}
}
