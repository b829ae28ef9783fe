package jinja

import (
	"slices"
)

// tests are what stands behind is, of a value alone.
var tests = map[string]func(v any) bool{
	"defined":   func(v any) bool { _, ok := v.(*undefined); return !ok },
	"undefined": func(v any) bool { _, ok := v.(*undefined); return ok },
	"none":      func(v any) bool { return v == nil },
	"boolean":   func(v any) bool { _, ok := v.(bool); return ok },
	"true":      func(v any) bool { return v == true },
	"false":     func(v any) bool { return v == false },
	"integer":   func(v any) bool { _, ok := v.(int64); return ok },
	"float":     func(v any) bool { _, ok := v.(float64); return ok },
	"number":    func(v any) bool { _, _, _, ok := number(v); return ok },
	"string":    func(v any) bool { _, ok := text(v); return ok },
	"escaped":   func(v any) bool { _, ok := v.(markup); return ok },
	"mapping":   func(v any) bool { _, ok := v.(*Dict); return ok },
	"sequence": func(v any) bool {
		switch v := v.(type) {
		case string, markup, *Dict, *undefined:
			return true
		case *Seq:
			return v.indexed()
		}
		return false
	},
	"iterable": func(v any) bool {
		switch v.(type) {
		case string, markup, *Dict, *undefined, *Seq, *loopValue:
			return true
		}
		return false
	},
	"callable": func(v any) bool {
		switch v.(type) {
		case *function, *macroValue, *loopValue, *undefined:
			return true
		}
		return false
	},
}

// operatorTests are the names of the comparisons.
var operatorTests = map[string]string{
	"==": "==", "eq": "==", "equalto": "==", "!=": "!=", "ne": "!=", ">": ">", "gt": ">", "greaterthan": ">",
	">=": ">=", "ge": ">=", "<": "<", "lt": "<", "lessthan": "<", "<=": "<=", "le": "<=", "in": "in",
}

// test is what v is name says.
func (r *run) test(name string, v any, args given) bool {
	if f, ok := tests[name]; ok {
		r.take("the test "+name, args)
		return f(v)
	}
	if op, ok := operatorTests[name]; ok {
		return r.compared(op, v, r.take("the test "+name, args, "other").want(0))
	}
	switch name {
	case "even", "odd", "divisibleby":
		by := int64(2)
		if name == "divisibleby" {
			by = r.take(name, args, "num").whole(0, 0)
		}
		rest := r.binary("%", v, by)
		if name == "odd" {
			return r.equal(rest, int64(1))
		}
		return r.equal(rest, int64(0))
	case "lower":
		s := r.str(v)
		return s == lower(s) && s != upper(s)
	case "upper":
		s := r.str(v)
		return s == upper(s) && s != lower(s)
	case "sameas":
		return same(v, r.take(name, args, "other").want(0))
	case "filter":
		s, ok := text(v)
		return ok && (filters[s] != nil || elementTests[s] != nil)
	case "test":
		s, ok := text(v)
		_, known := tests[s]
		_, compares := operatorTests[s]
		return ok && (known || compares || slices.Contains([]string{"even", "odd", "divisibleby", "lower", "upper", "sameas", "filter", "test"}, s))
	}
	unknown(r, "test", name)
	return false
}

// same is whether two values are one: None, True, False, or the same list.
func same(a, b any) bool {
	switch a.(type) {
	case nil, bool, int64, string, *Seq, *Dict, *namespace, *macroValue:
		return a == b
	}
	return false
}
