package msl

import (
	"regexp"
	"strconv"
	"strings"
)

// head is what precedes a function: its template parameters, the host's name
// for it and its thread limit.
type head struct {
	template string // "<typename T, int N>", or ""
	host     string
	limit    string // the expression of max_total_threads_per_threadgroup
	at       int    // token where the declaration begins
}

var (
	hostName = regexp.MustCompile(`\bhost_name\(((?:"(?:[^"\\]|\\.)*")+)\)`)
	indexed  = regexp.MustCompile(`\b(buffer|threadgroup)\(([^()]*)\)`)
	constant = regexp.MustCompile(`^function_constant\((\d+)\)$`)
	attrWord = regexp.MustCompile(`[A-Za-z_]\w*`)
)

// joined is the text of tokens from..to without white space.
func (r *rewriter) joined(from, to int) string {
	var b strings.Builder
	for _, t := range r.tok[from:to] {
		b.WriteString(t.text)
	}
	return b.String()
}

func findHost(attribute string) string {
	m := hostName.FindStringSubmatch(attribute)
	if m == nil {
		return ""
	}
	return strings.Trim(strings.ReplaceAll(m[1], `""`, ""), `"`)
}

// template reads `template <…>`, or an explicit instantiation that names a
// kernel. It returns the token to go on with.
func (r *rewriter) template(i int, pending *head) (int, error) {
	if r.text(i+1) == "<" {
		e := r.closeAngle(i + 1)
		if e < 0 {
			return 0, r.fail(i, "template parameter list without end")
		}
		if pending.template == "" {
			pending.at = i
		}
		pending.template = r.source(i+1, e+1)
		return i + 1, nil // the parameters are rewritten like any other text
	}
	end := i
	for end < len(r.tok) && r.tok[end].text != ";" {
		if end = end + 1; r.text(end) == "(" || r.text(end) == "[" || r.text(end) == "{" {
			if end = r.close(end); end < 0 {
				return 0, r.fail(i, "explicit instantiation without end")
			}
		}
	}
	host, isKernel := "", false
	for q := i + 1; q < end; q++ {
		if e, ok := r.attribute(q); ok {
			text := r.joined(q+2, e-2)
			if h := findHost(text); h != "" {
				host = h
			}
			for _, w := range attrWord.FindAllString(text, -1) {
				isKernel = isKernel || w == "kernel"
			}
			r.blank(q, e)
			q = e - 1
		} else if r.text(q) == "kernel" {
			isKernel = true
		}
	}
	if !isKernel {
		return i + 1, nil
	}
	// The function is name<…>, before a parameter list if there is one.
	q := end - 1
	if r.text(q) == ")" {
		for depth := 0; q > i; q-- {
			if r.text(q) == ")" {
				depth++
			} else if r.text(q) == "(" {
				if depth--; depth == 0 {
					break
				}
			}
		}
		q--
	}
	last := q
	if r.text(q) == ">" {
		for depth := 0; q > i; q-- {
			if r.text(q) == ")" {
				for d := 0; q > i; q-- {
					if r.text(q) == ")" {
						d++
					} else if r.text(q) == "(" {
						if d--; d == 0 {
							break
						}
					}
				}
			} else if r.text(q) == ">" {
				depth++
			} else if r.text(q) == "<" {
				if depth--; depth == 0 {
					break
				}
			}
		}
		q--
	}
	if q <= i || !r.tok[q].word() {
		return 0, r.fail(i, "explicit instantiation of a kernel without a name")
	}
	name := r.text(q)
	if host == "" {
		host = name
	}
	for k := q + 1; k <= last; k++ { // address spaces in the arguments
		switch r.tok[k].text {
		case "device", "thread", "threadgroup":
			r.out[k] = ""
		case "constant":
			r.out[k] = "const"
		}
	}
	r.instances = append(r.instances, instance{host, name, r.source(q, last+1), i})
	for k := i; k <= end && k < len(r.tok); k++ {
		r.out[k] = ""
	}
	*pending = head{}
	return end + 1, nil
}

// attributes reads [[…]] at i outside a kernel's parameters.
func (r *rewriter) attributes(i, end int, pending *head) (int, error) {
	text := r.joined(i+2, end-2)
	if m := constant.FindStringSubmatch(text); m != nil && (r.text(end) == ";" || r.text(end) == "=") {
		return end, r.functionConstant(i, end, m[1])
	}
	r.blank(i, end)
	if h := findHost(text); h != "" {
		pending.host = h
	}
	const limit = "max_total_threads_per_threadgroup"
	for k := i + 2; k < end-2; k++ {
		if r.text(k) == limit && r.text(k+1) == "(" {
			pending.limit = joinTokens(r.tok[k+1 : r.close(k+1)+1])
		}
	}
	for _, w := range attrWord.FindAllString(text, -1) {
		if w != "kernel" {
			continue
		}
		if e, ok := r.attribute(end); ok { // [[kernel]] [[max_total…]]
			if _, err := r.attributes(end, e, pending); err != nil {
				return 0, err
			}
			end = e
		}
		r.out[i] = "static "
		return end, r.kernel(end, pending)
	}
	return end, nil
}

func joinTokens(tokens []token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && t.space != "" {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// functionConstant rewrites `constant T name [[function_constant(n)]];` to the
// declaration of a symbol that the pipeline defines.
func (r *rewriter) functionConstant(i, end int, digits string) error {
	index, err := strconv.Atoi(digits)
	if err != nil || index > 65535 {
		return r.fail(i, "function constant index %s: it must be 0 to 65535", digits)
	}
	if r.text(end) == "=" {
		return r.fail(i, "function constant with an initialiser")
	}
	from := i
	for from > 0 && r.text(from-1) != ";" && r.text(from-1) != "}" && r.text(from-1) != "{" {
		from--
	}
	var typ []string
	for k := from; k < i-1; k++ {
		switch r.text(k) {
		case "constant", "const", "static":
			r.out[k] = ""
		default:
			typ = append(typ, r.text(k))
		}
	}
	c := FunctionConstant{index, r.text(i - 1), strings.Join(typ, " ")}
	r.constants[c.Name] = c
	r.order = append(r.order, c)
	r.blank(i, end)
	r.out[from] = "extern const bool msl_fcd_" + digits + "; extern const " + r.out[from]
	r.out[i] = ` __asm__("msl_fc_` + digits + `")`
	return nil
}

// kernel reads the parameter list of the kernel function whose return type
// begins at i.
func (r *rewriter) kernel(i int, pending *head) error {
	begin := i
	for i < len(r.tok) && r.text(i) != "(" {
		if e, ok := r.attribute(i); ok {
			text := r.joined(i+2, e-2)
			if h := findHost(text); h != "" {
				pending.host = h
			}
			r.blank(i, e)
			i = e
			continue
		}
		if r.text(i) == ";" || r.text(i) == "{" {
			break
		}
		i++
	}
	if r.text(i) != "(" || i == 0 || !r.tok[i-1].word() {
		return r.fail(begin, "kernel without a parameter list")
	}
	name, end := r.text(i-1), r.close(i)
	if end < 0 {
		return r.fail(begin, "kernel %s: parameter list without end", name)
	}
	params, err := r.parameters(name, i+1, end)
	if err != nil {
		return err
	}
	r.params[name] = params
	if pending.limit != "" {
		r.limits[name] = pending.limit
		if pending.template != "" {
			// The limit may be written with the template's parameters: a
			// template of its own evaluates it.
			r.limits[name] = "msl_limit_" + name
			r.out[pending.at] = "template " + pending.template + " struct msl_limit_" + name +
				" { static constexpr unsigned value = " + pending.limit + "; }; " + r.out[pending.at]
		}
	}
	if pending.template == "" {
		host := pending.host
		if host == "" {
			host = name
		}
		r.instances = append(r.instances, instance{host, name, name, i})
	}
	*pending = head{}
	return nil
}

// parameters reads tokens from..end, end being the closing bracket.
func (r *rewriter) parameters(function string, from, end int) ([]Param, error) {
	var params []Param
	var unbound []int
	used := map[int]bool{}
	for from < end {
		to, depth := from, 0
		for ; to < end; to++ {
			if e, ok := r.attribute(to); ok {
				to = e - 1
				continue
			}
			switch r.text(to) {
			case "(", "[", "{", "<":
				depth++
			case ")", "]", "}", ">":
				depth--
			}
			if r.text(to) == "," && depth == 0 {
				break
			}
		}
		p, err := r.parameter(function, from, to)
		if err != nil {
			return nil, err
		}
		if p.Kind == Buffer {
			if p.Index < 0 {
				unbound = append(unbound, len(params))
			} else {
				used[p.Index] = true
			}
		}
		params = append(params, p)
		from = to + 1
	}
	// A buffer without an index takes the next free one.
	next := 0
	for _, k := range unbound {
		for used[next] {
			next++
		}
		params[k].Index = next
		used[next] = true
	}
	return params, nil
}

func (r *rewriter) parameter(function string, from, to int) (Param, error) {
	p := Param{Index: -1}
	memory := false
	for k := from; k < to; {
		end, ok := r.attribute(k)
		if !ok {
			memory = memory || r.text(k) == "threadgroup"
			k++
			continue
		}
		text := r.joined(k+2, end-2)
		p.Optional = p.Optional || strings.Contains(text, "function_constant(")
		if m := indexed.FindStringSubmatch(text); m != nil {
			index, err := strconv.Atoi(m[2])
			if err != nil || index < 0 || index > 30 {
				return p, r.fail(k, "kernel %s: %s index %q: it must be a number from 0 to 30", function, m[1], m[2])
			}
			p.Kind, p.Index, p.Bound = Kind(m[1]), index, true
		} else {
			for _, w := range attrWord.FindAllString(text, -1) {
				if builtins[w] != "" {
					p.Kind = Kind(w)
				}
			}
			if p.Kind == "" && !strings.HasPrefix(text, "function_constant(") {
				return p, r.fail(k, "kernel %s: attribute [[%s]] is not supported", function, text)
			}
		}
		r.blank(k, end)
		k = end
	}
	p.Text = strings.Join(strings.Fields(r.source(from, to)), " ")
	if p.Kind == "" {
		p.Kind = Buffer
		if memory {
			p.Kind, p.Index = Threadgroup, 0
		}
	}
	return p, nil
}
