package apple

import (
	"reflect"
	"testing"

	"github.com/introgen/introgen/metalshim/apple/abi"
	"github.com/introgen/introgen/metalshim/apple/objc"
)

// Every selector that the driver sends is in the table made from Apple's
// headers, with the encoding of its Go signature (objc.Selectors compares the
// tag with the signature).
func TestSelectors(t *testing.T) {
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	selectors, err := Selectors()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range selectors {
		m := table.Find(s.String())
		switch {
		case m == nil:
			t.Errorf("%v is not in the table", s)
		case m.Encoding() != s.Encoding:
			t.Errorf("%v: encoding %s, the table has %s", s, s.Encoding, m.Encoding())
		case seen[s.String()]:
			t.Errorf("%v is declared twice", s)
		}
		seen[s.String()] = true
	}
	if n := reflect.TypeFor[messages]().NumField() + reflect.TypeFor[objc.Messages]().NumField(); n != len(selectors) {
		t.Errorf("%d fields, %d selectors", n, len(selectors))
	}
}
