package msl

import (
	"cmp"
	"slices"
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

// attribute is one of a list [[…]]: its name, and the tokens in its brackets.
type attribute struct {
	name string
	args []token
}

// joined is the text of the arguments without white space.
func (a attribute) joined() string {
	var b strings.Builder
	for _, t := range a.args {
		b.WriteString(t.text)
	}
	return b.String()
}

// list says whether a list of attributes begins at i, what stands in it, and
// where the token after it is. The two brackets must touch; a[b[0]] does not
// begin with them.
func (r *rewriter) list(i int) (all attributes, end int, ok bool) {
	if r.at(i) != "[" || r.at(i+1) != "[" || r.tok[i+1].space != "" {
		return nil, 0, false
	}
	last := r.close(i)
	if last < 0 {
		return nil, 0, false
	}
	for k := i + 2; k < last-1; k++ {
		if !r.tok[k].name() || r.at(k+1) == "::" {
			continue
		}
		a := attribute{name: r.at(k)}
		if r.at(k+1) == "(" {
			if e := r.close(k + 1); e > 0 && e < last {
				a.args = r.tok[k+2 : e]
				k = e
			}
		}
		all = append(all, a)
	}
	return all, last + 1, true
}

// attributes are those of one list.
type attributes []attribute

// find returns the attribute of a name.
func (all attributes) find(name string) (attribute, bool) {
	i := slices.IndexFunc(all, func(a attribute) bool { return a.name == name })
	if i < 0 {
		return attribute{}, false
	}
	return all[i], true
}

func (all attributes) has(name string) bool {
	_, ok := all.find(name)
	return ok
}

// host is the name that the list gives a function for the host, or "".
func (all attributes) host() string {
	name, _ := all.find("host_name")
	return strings.Trim(strings.ReplaceAll(name.joined(), `""`, ""), `"`)
}

// template reads `template <…>`, or an explicit instantiation that names a
// kernel. It returns the token to go on with.
func (r *rewriter) template(i int, pending *head) (int, error) {
	if r.at(i+1) == "<" {
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
		if end = end + 1; r.at(end) == "(" || r.at(end) == "[" || r.at(end) == "{" {
			if end = r.close(end); end < 0 {
				return 0, r.fail(i, "explicit instantiation without end")
			}
		}
	}
	host, isKernel := "", false
	for q := i + 1; q < end; q++ {
		if list, e, ok := r.list(q); ok {
			host = cmp.Or(list.host(), host)
			isKernel = isKernel || list.has("kernel")
			r.blank(q, e)
			q = e - 1
		} else if r.at(q) == "kernel" {
			isKernel = true
		}
	}
	if !isKernel {
		return i + 1, nil
	}
	// The function is name<…>, before a parameter list if there is one.
	q := end - 1
	if r.at(q) == ")" {
		q = max(r.close(q), i) - 1
	}
	last := q
	if r.at(q) == ">" {
		for depth := 0; q > i; q-- {
			if r.at(q) == ")" {
				q = max(r.close(q), i)
			} else if r.at(q) == ">" {
				depth++
			} else if r.at(q) == "<" {
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
	name := r.at(q)
	host = cmp.Or(host, name)
	for k := q + 1; k <= last; k++ { // address spaces in the arguments
		if qualifier, ok := addressSpaces[r.at(k)]; ok {
			r.out[k] = qualifier
		}
	}
	r.instances = append(r.instances, instance{name: host, function: name, expr: r.source(q, last+1)})
	for k := i; k <= end && k < len(r.tok); k++ {
		r.out[k] = ""
	}
	*pending = head{}
	return end + 1, nil
}

// attributes reads the list at i, outside of a kernel's parameters, which ends
// before end.
func (r *rewriter) attributes(i int, list attributes, end int, pending *head) (int, error) {
	if c, ok := list.find("function_constant"); ok && len(list) == 1 && (r.at(end) == ";" || r.at(end) == "=") {
		return end, r.functionConstant(i, end, c.joined())
	}
	r.blank(i, end)
	pending.host = cmp.Or(list.host(), pending.host)
	if limit, ok := list.find("max_total_threads_per_threadgroup"); ok {
		pending.limit = "(" + joinTokens(limit.args) + ")"
	}
	if !list.has("kernel") {
		return end, nil
	}
	if next, e, ok := r.list(end); ok { // [[kernel]] [[max_total…]]
		if _, err := r.attributes(end, next, e, pending); err != nil {
			return 0, err
		}
		end = e
	}
	r.out[i] = "static "
	return end, r.kernel(end, pending)
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
	if r.at(end) == "=" {
		return r.fail(i, "function constant with an initialiser")
	}
	from := i
	for from > 0 && r.at(from-1) != ";" && r.at(from-1) != "}" && r.at(from-1) != "{" {
		from--
	}
	var typ []string
	for k := from; k < i-1; k++ {
		switch r.at(k) {
		case "constant", "const", "static":
			r.out[k] = ""
		default:
			typ = append(typ, r.at(k))
		}
	}
	c := FunctionConstant{index, r.at(i - 1), strings.Join(typ, " ")}
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
	for i < len(r.tok) && r.at(i) != "(" {
		if list, e, ok := r.list(i); ok {
			pending.host = cmp.Or(list.host(), pending.host)
			r.blank(i, e)
			i = e
			continue
		}
		if r.at(i) == ";" || r.at(i) == "{" {
			break
		}
		i++
	}
	if r.at(i) != "(" || i == 0 || !r.tok[i-1].word() {
		return r.fail(begin, "kernel without a parameter list")
	}
	name, end := r.at(i-1), r.close(i)
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
		r.instances = append(r.instances, instance{name: cmp.Or(pending.host, name), function: name, expr: name})
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
			if _, e, ok := r.list(to); ok {
				to = e - 1
				continue
			}
			switch r.at(to) {
			case "(", "[", "{", "<":
				depth++
			case ")", "]", "}", ">":
				depth--
			}
			if r.at(to) == "," && depth == 0 {
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
		list, end, ok := r.list(k)
		if !ok {
			memory = memory || r.at(k) == "threadgroup"
			k++
			continue
		}
		p.Optional = p.Optional || list.has("function_constant")
		bound := slices.IndexFunc(list, func(a attribute) bool { return (a.name == "buffer" || a.name == "threadgroup") && a.args != nil })
		if bound >= 0 {
			a := list[bound]
			index, err := strconv.Atoi(a.joined())
			if err != nil || index < 0 || index > 30 {
				return p, r.fail(k, "kernel %s: %s index %q: it must be a number from 0 to 30", function, a.name, a.joined())
			}
			p.Kind, p.Index, p.Bound = Kind(a.name), index, true
		} else {
			for _, a := range list {
				if builtins[a.name] != "" {
					p.Kind = Kind(a.name)
				}
			}
			if p.Kind == "" && (len(list) == 0 || list[0].name != "function_constant") {
				return p, r.fail(k, "kernel %s: attribute [[%s]] is not supported", function, attribute{args: r.tok[k+2 : end-2]}.joined())
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
