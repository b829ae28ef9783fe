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

// rule is a line of docs/imports.txt: what a package may import of the project.
type rule struct {
	may  []string // packages, or trees of them ending in /...
	line int
}

func (r rule) allows(pkg string) bool {
	return slices.ContainsFunc(r.may, func(may string) bool {
		tree, isTree := strings.CutSuffix(may, "/...")
		return pkg == may || isTree && (pkg == tree || strings.HasPrefix(pkg, tree+"/"))
	})
}

// readRules reads docs/imports.txt: a package, a colon, and what it may import.
// Lines that begin with # are for people.
func readRules(t *testing.T) map[string]rule {
	t.Helper()
	f, err := os.Open("docs/imports.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rules := map[string]rule{}
	s := bufio.NewScanner(f)
	for n := 1; s.Scan(); n++ {
		text := strings.TrimSpace(s.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		pkg, may, ok := strings.Cut(text, ":")
		if _, twice := rules[pkg]; !ok || twice {
			t.Fatalf("docs/imports.txt:%d: %q is not `package: imports`, or stands there twice", n, text)
		}
		rules[pkg] = rule{strings.Fields(may), n}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return rules
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

// TestImportGraph holds every package to docs/imports.txt: imports point one
// way, and a new package says there where it stands.
func TestImportGraph(t *testing.T) {
	rules, imports := readRules(t), readImports(t)
	for _, pkg := range slices.Sorted(maps.Keys(imports)) {
		r, ok := rules[pkg]
		if !ok {
			t.Errorf("package %s has no line in docs/imports.txt: add one that says what it may import", pkg)
			continue
		}
		for _, imported := range imports[pkg] {
			if !r.allows(imported) {
				t.Errorf("package %s imports %s, which docs/imports.txt:%d does not allow", pkg, imported, r.line)
			}
		}
	}
	for pkg, r := range rules {
		if _, ok := imports[pkg]; !ok {
			t.Errorf("docs/imports.txt:%d names %s, which is no package", r.line, pkg)
		}
	}
}

// TestImportRulesAreTight finds allowances that nobody uses, since they would
// let a wrong import pass later.
func TestImportRulesAreTight(t *testing.T) {
	imports := readImports(t)
	for pkg, r := range readRules(t) {
		for _, may := range r.may {
			one := rule{may: []string{may}}
			if !slices.ContainsFunc(imports[pkg], one.allows) {
				t.Errorf("docs/imports.txt:%d lets %s import %s, which it does not", r.line, pkg, may)
			}
		}
	}
}
