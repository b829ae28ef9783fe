package msl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// head is what precedes a function: its template parameters, the host's name
// for it and its thread limit.
type head struct {
	template string // "<typename T, int N>", or ""
	host     string
	required int    // how many arguments the template needs
	most     int    // and takes; −1 is any number
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
		pending.required, pending.most = r.arguments(i+2, e)
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
	host, isKernel, stage := "", false, ""
	for q := i + 1; q < end; q++ {
		if list, e, ok := r.list(q); ok {
			host = cmp.Or(list.host(), host)
			isKernel = isKernel || list.has("kernel")
			stage = cmp.Or(list.drawing(), stage)
			r.blank(q, e)
			q = e - 1
		} else if r.at(q) == "kernel" {
			isKernel = true
		} else if q == i+1 && slices.Contains(stages, r.at(q)) || q > i+1 && r.out[q-1] == "" && slices.Contains(stages, r.at(q)) {
			stage = r.at(q)
		}
	}
	if !isKernel && stage == "" {
		return i + 1, nil
	}
	// The function is name<…>, before a parameter list if there is one.
	in := instance{at: i}
	q := end - 1
	if r.at(q) == ")" {
		in.to = q
		q = max(r.close(q), i) - 1
		in.from = q + 2
	}
	last := q
	if r.at(q) == ">" {
		if q = r.openAngle(q); q > i {
			in.given = r.count(q+1, last)
			q--
		}
	}
	if q <= i || !r.tok[q].word() {
		return 0, r.fail(i, "explicit instantiation of a kernel without a name")
	}
	in.function = r.at(q)
	in.name = cmp.Or(host, in.function)
	for k := q + 1; k < end; k++ { // address spaces in the arguments and the types
		if qualifier, ok := addressSpaces[r.at(k)]; ok {
			r.out[k] = qualifier
		}
		if r.at(k) == "coherent" {
			r.out[k] = ""
			if e := r.close(k + 1); r.at(k+1) == "(" && e > 0 {
				r.blank(k+1, e+1)
			}
		}
	}
	in.args, in.types = r.source(q+1, last+1), r.source(in.from, in.to)
	if isKernel {
		r.instances = append(r.instances, in)
	} else {
		r.others = append(r.others, Function{in.name, stage})
	}
	for k := i; k <= end && k < len(r.tok); k++ {
		r.out[k] = ""
	}
	*pending = head{}
	return end + 1, nil
}

// attributes reads the list at i, outside of a kernel's parameters, which ends
// before end.
func (r *rewriter) attributes(i int, list attributes, end int, pending *head) (int, error) {
	if c, ok := list.find("function_constant"); ok {
		return end, r.functionConstant(i, end, c)
	}
	if stage := list.drawing(); stage != "" && r.in[i] == outside {
		if next := r.stage(i, stage, pending); next > i {
			return next, nil
		}
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
	r.static(i)
	r.out[i] += " "
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
// declaration of a symbol that the pipeline defines. The list of attributes, tokens
// i..end, may stand before the declaration too.
func (r *rewriter) functionConstant(i, end int, a attribute) error {
	index, ok := r.index(a.args)
	if !ok || index < 0 || index > 65535 {
		return r.fail(i, "function constant index %s: it must be 0 to 65535, a number or a constant expression of numbers, enumerators and constants", a.joined())
	}
	from := i
	for from > 0 && r.at(from-1) != ";" && r.at(from-1) != "}" && r.at(from-1) != "{" {
		from--
	}
	name, last := i-1, end
	for r.at(name) == "]" && r.close(name) > 0 { // another list of attributes
		name = r.close(name) - 1
	}
	if from == i {
		for last = end; last < len(r.tok) && r.at(last) != ";" && r.at(last) != "=" && r.at(last) != ","; last++ {
		}
		name = last - 1
	}
	for {
		if _, e, more := r.list(last); more {
			r.blank(last, e)
			last = e
			continue
		}
		break
	}
	switch {
	case r.at(last) == "=" || r.at(last) == "{":
		return r.fail(i, "function constant with an initialiser")
	case r.at(last) != ";" || name < from || !r.tok[name].name():
		return r.fail(i, "function constant %d: its declaration cannot be read; declare one at a time, as constant T name [[function_constant(n)]];", index)
	}
	r.blank(i, end)
	var typ []string
	for k := from; k < name; k++ {
		if _, e, list := r.list(k); list {
			r.blank(k, e)
			k = e - 1
			continue
		}
		switch r.at(k) {
		case "constant", "const", "static", "inline", "device":
			r.out[k] = ""
		case "metal", "::":
		default:
			typ = append(typ, r.at(k))
		}
	}
	c := FunctionConstant{int(index), r.at(name), strings.Join(typ, " ")}
	r.constants[c.Name] = c
	r.order = append(r.order, c)
	symbol := ""
	if r.spaces[from] != "" { // a name of a namespace is another symbol
		symbol = fmt.Sprintf(` __asm__("msl_fcd_%d")`, index)
	}
	r.out[from] = fmt.Sprintf("extern const bool msl_fcd_%d%s; extern const %s", index, symbol, r.out[from])
	r.out[name] += fmt.Sprintf(` __asm__("msl_fc_%d")`, index)
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
	f := &kernelFunction{path: r.spaces[begin], name: name, template: pending.template, params: params,
		from: i + 1, to: end, limit: pending.limit, at: pending.at}
	f.required, f.most = pending.required, pending.most
	f = r.declare(f)
	host := cmp.Or(pending.host, f.path+name)
	if pending.template == "" && !slices.ContainsFunc(r.instances, func(in instance) bool { return in.of == f && in.name == host }) {
		r.instances = append(r.instances, instance{name: host, function: name, of: f, at: begin})
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

// harmless are attributes of parameters that change nothing.
var harmless = map[string]bool{"maybe_unused": true, "unused": true, "deprecated": true, "noescape": true, "access": true}

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
		for _, a := range list {
			switch {
			case a.name == "function_constant":
				p.Optional = true
			case (a.name == "buffer" || a.name == "threadgroup") && a.args != nil:
				index, ok := r.index(a.args)
				if !ok || index < 0 || index > 30 {
					return p, r.fail(k, "kernel %s: %s index %q: it must be a number from 0 to 30, or a constant expression of numbers, enumerators and constants", function, a.name, a.joined())
				}
				p.Kind, p.Index, p.Bound = Kind(a.name), int(index), true
			case builtins[a.name] != "":
				p.Kind = Kind(a.name)
			case !harmless[a.name]:
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
