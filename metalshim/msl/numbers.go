package msl

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// literal is an integer as C++ writes it.
var literal = regexp.MustCompile(`^(0[xX][0-9a-fA-F']+|0[bB][01']+|0[0-7']*|[1-9][0-9']*)[uUlL]*$`)

// index is the value of an attribute's argument, a constant expression: of numbers,
// enumerators and constants that the source gives a value.
func (r *rewriter) index(tokens []token) (v int64, ok bool) {
	if len(tokens) == 1 && literal.MatchString(tokens[0].text) {
		return r.calculate(tokens, nil)
	}
	if r.numbers == nil {
		r.numbers = map[string]number64{}
		r.findNumbers()
	}
	return r.calculate(tokens, r.number)
}

// number64 is the value of a name; one that has two values in two places is
// ambiguous.
type number64 struct {
	value     int64
	ambiguous bool
}

// number is the value of a name, which may be qualified.
func (r *rewriter) number(name string) (int64, bool) {
	n, ok := r.numbers[name]
	if !ok {
		if i := strings.LastIndex(name, "::"); i >= 0 {
			rest := name[strings.Index(name, "::")+2:]
			return r.number(rest)
		}
	}
	return n.value, ok && !n.ambiguous
}

func (r *rewriter) setNumber(name string, v int64) {
	if was, ok := r.numbers[name]; ok && was.value != v {
		r.numbers[name] = number64{v, true}
		return
	}
	r.numbers[name] = number64{value: v}
}

// calculate is the value of an expression, whose names value knows.
func (r *rewriter) calculate(tokens []token, value func(string) (int64, bool)) (v int64, ok bool) {
	var in []macroToken
	good := true
	for k := 0; k < len(tokens); k++ {
		t := tokens[k]
		at := func(i int) string {
			if i < 0 || i >= len(tokens) {
				return ""
			}
			return tokens[i].text
		}
		switch {
		case t.text == "static_cast" && at(k+1) == "<":
			for k++; k < len(tokens) && at(k) != ">"; k++ {
			}
			continue
		case t.text == "sizeof" && at(k+1) == "(" && at(k+3) == ")" && sizes[at(k+2)] > 0:
			in = append(in, macroToken{text: strconv.Itoa(sizes[at(k+2)]), space: true})
			k += 3
			continue
		case castType(t.text) && at(k+1) == "(": // int(x)
			continue
		case t.text == "(" && castType(at(k+1)): // (int)x, (unsigned int)x
			e := k + 1
			for castType(at(e)) {
				e++
			}
			if at(e) == ")" && at(e+1) != "" {
				k = e
				continue
			}
		case t.name() && value != nil && t.text != "true":
			name := t.text
			for at(k+1) == "::" && k+2 < len(tokens) {
				name += "::" + at(k+2)
				k += 2
			}
			if name == "false" {
				in = append(in, macroToken{text: "0", space: true})
				continue
			}
			n, is := value(name)
			good = good && is
			in = append(in, macroToken{text: "(", space: true})
			if n < 0 {
				in = append(in, macroToken{text: "-"})
			}
			in = append(in, macroToken{text: formatNumber(n)}, macroToken{text: ")"})
			continue
		case t.text == "::":
			continue
		case digit(t.text[0]) && !literal.MatchString(t.text):
			good = false
		}
		in = append(in, macroToken{text: strings.ReplaceAll(t.text, "'", ""), space: t.space != ""})
	}
	if !good || len(in) == 0 {
		return 0, false
	}
	c := &calculation{tokens: in, known: func(string) bool { good = false; return false }}
	v = c.choice(0)
	return v, good && !c.bad && c.at == len(c.tokens)
}

// formatNumber writes the amount of a number.
func formatNumber(n int64) string {
	if n == math.MinInt64 {
		return "0x8000000000000000"
	}
	if n < 0 {
		n = -n
	}
	return strconv.FormatInt(n, 10)
}

func castType(word string) bool {
	return builtinTypes[word] && word != "void" && word != "auto" || slices.Contains([]string{"uint", "ushort", "uchar", "ulong", "size_t",
		"int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t"}, word)
}

// sizes are those of scalar types, in bytes.
var sizes = map[string]int{"bool": 1, "char": 1, "uchar": 1, "int8_t": 1, "uint8_t": 1, "short": 2, "ushort": 2, "int16_t": 2, "uint16_t": 2,
	"half": 2, "bfloat": 2, "int": 4, "uint": 4, "unsigned": 4, "int32_t": 4, "uint32_t": 4, "float": 4,
	"long": 8, "ulong": 8, "int64_t": 8, "uint64_t": 8, "size_t": 8}

// findNumbers finds enumerators and constants that have a number.
func (r *rewriter) findNumbers() {
	for i := range r.tok {
		switch r.at(i) {
		case "enum":
			r.enumerators(i)
		case "=", "{":
			if i == 0 || !r.tok[i-1].name() {
				continue
			}
			begin := r.statement(i - 1)
			if begin < 0 || !slices.ContainsFunc(r.tok[begin:i], func(t token) bool {
				return t.text == "constexpr" || t.text == "constant" || t.text == "const"
			}) {
				continue
			}
			r.constantsFrom(i)
		}
	}
}

// constantsFrom reads the values of the declaration whose first is at token i, a
// brace or behind an equals sign.
func (r *rewriter) constantsFrom(i int) {
	for {
		name := r.at(i - 1)
		from, end := i+1, r.initializer(i+1)
		if r.at(i) == "{" {
			if end = r.close(i); end < 0 {
				return
			}
		}
		if end > len(r.tok) || from >= end {
			return
		}
		if v, ok := r.calculate(r.tok[from:end], r.number); ok {
			r.setNumber(name, v)
		}
		if r.at(i) == "{" || r.at(end) != "," || r.at(end+2) != "=" {
			return
		}
		i = end + 2
	}
}

// enumerators reads an enumeration.
func (r *rewriter) enumerators(i int) {
	k := i + 1
	if r.at(k) == "class" || r.at(k) == "struct" {
		k++
	}
	name := ""
	for ; k < len(r.tok) && r.at(k) != "{"; k++ {
		if _, e, ok := r.list(k); ok {
			k = e - 1
			continue
		}
		if r.at(k) == ";" || r.at(k) == "(" || r.at(k) == "=" {
			return
		}
		if name == "" && r.tok[k].name() {
			name = r.at(k)
		}
	}
	end := r.close(min(k, len(r.tok)-1))
	if k >= len(r.tok) || end < 0 {
		return
	}
	next, known := int64(0), true
	for _, at := range r.items(k+1, end) {
		if at >= end || !r.tok[at].name() {
			continue
		}
		e := at + 1
		for ; e < end && r.at(e) != "=" && r.at(e) != ","; e++ {
		}
		if r.at(e) == "=" && e < end {
			next, known = r.calculate(r.tok[e+1:min(r.initializer(e+1), end)], r.number)
		}
		if known {
			r.setNumber(r.at(at), next)
			if name != "" {
				r.setNumber(name+"::"+r.at(at), next)
			}
		}
		next++
	}
}
