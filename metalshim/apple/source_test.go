package apple

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Each declared message is sent by one method, whose comment has Apple's name
// for it, and no message is declared that is not sent. So what TestSelectors
// holds against Apple's headers is what the driver does.
func TestOneMethodForEachSelector(t *testing.T) {
	selectors, err := Selectors()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{} // field → selector
	fields := reflect.TypeFor[messages]()
	for i := range fields.NumField() {
		names[fields.Field(i).Name] = selectors[i].Name
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	senders := map[string][]string{} // field → functions
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range tree.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			said := strings.Join(strings.Fields(f.Doc.Text()), " ")
			ast.Inspect(f, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				name, declared := names[s.Sel.Name]
				if from, ok := s.X.(*ast.SelectorExpr); !declared || !ok || from.Sel.Name != "m" {
					return true
				}
				senders[s.Sel.Name] = append(senders[s.Sel.Name], f.Name.Name)
				// -[[MTLDevice architecture] name] is sent by one method, and
				// setMathMode: is asked for as well as sent.
				if !strings.Contains(said, name) {
					t.Errorf("%s: %s sends %s, its comment does not say so", file, f.Name.Name, name)
				}
				return true
			})
		}
	}
	for field, name := range names {
		by := senders[field]
		if len(by) == 0 {
			t.Errorf("%s is declared, nothing sends it", name)
		}
		if name == "setMathMode:" || name == "setShouldMaximizeConcurrentCompilation:" {
			by = by[1:] // hasMathMode and hasConcurrentCompilation only ask
		}
		if len(by) > 1 {
			t.Errorf("%s is sent by %v", name, by)
		}
	}
}
