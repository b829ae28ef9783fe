package source

import "strconv"

// levels are the operators of a condition by how tightly they bind, the loosest
// first.
var levels = []map[string]func(a, b int64) int64{
	{"||": func(a, b int64) int64 { return truth(a != 0 || b != 0) }},
	{"&&": func(a, b int64) int64 { return truth(a != 0 && b != 0) }},
	{"==": func(a, b int64) int64 { return truth(a == b) }, "!=": func(a, b int64) int64 { return truth(a != b) }},
	{
		"<": func(a, b int64) int64 { return truth(a < b) }, ">": func(a, b int64) int64 { return truth(a > b) },
		"<=": func(a, b int64) int64 { return truth(a <= b) }, ">=": func(a, b int64) int64 { return truth(a >= b) },
	},
	{"+": func(a, b int64) int64 { return a + b }, "-": func(a, b int64) int64 { return a - b }},
	{"*": func(a, b int64) int64 { return a * b }},
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// evaluate is the value of an #if's condition; one that cannot be read is 0.
func (p *preprocessor) evaluate(tokens []token) int64 {
	var plain []token
	for i := 0; i < len(tokens); i++ {
		if tokens[i].text != "defined" {
			plain = append(plain, tokens[i])
			continue
		}
		open := i+1 < len(tokens) && tokens[i+1].text == "("
		if open {
			i++
		}
		value := "0"
		if i++; i < len(tokens) {
			if _, is := p.macros[tokens[i].text]; is {
				value = "1"
			}
		}
		if open {
			i++
		}
		plain = append(plain, token{text: value})
	}
	expanded, err := p.expand(plain)
	if err != nil {
		return 0
	}
	c := &calculation{tokens: expanded}
	v := c.level(0, 0)
	if c.bad || c.at < len(c.tokens) {
		return 0
	}
	return v
}

// calculation is a condition under way.
type calculation struct {
	tokens []token
	at     int
	bad    bool
}

func (c *calculation) next() string {
	if c.at >= len(c.tokens) {
		return ""
	}
	return c.tokens[c.at].text
}

func (c *calculation) level(l, depth int) int64 {
	if l == len(levels) {
		return c.operand(depth)
	}
	v := c.level(l+1, depth)
	for !c.bad {
		f, ok := levels[l][c.next()]
		if !ok {
			break
		}
		c.at++
		v = f(v, c.level(l+1, depth))
	}
	return v
}

func (c *calculation) operand(depth int) int64 {
	text := c.next()
	c.at++
	if depth == maxDepth {
		c.bad = true
	}
	switch {
	case c.bad || text == "":
		c.bad = true
		return 0
	case text == "!":
		return truth(c.operand(depth+1) == 0)
	case text == "-":
		return -c.operand(depth + 1)
	case text == "(":
		v := c.level(0, depth+1)
		c.bad = c.bad || c.next() != ")"
		c.at++
		return v
	case letter(text[0]):
		return 0 // a name that is no macro
	}
	for n := len(text); n > 0; n-- { // suffixes such as L
		if v, err := strconv.ParseInt(text[:n], 0, 64); err == nil {
			return v
		}
	}
	c.bad = true
	return 0
}
