package msl

import (
	"fmt"
	"slices"
	"strings"
)

// instance is a kernel that the host can name: a plain function or an
// instance of a template.
type instance struct {
	name     string // the host's
	function string
	of       *kernelFunction // what it is an instance of, once that is known
	args     string          // of the template, as <float, 4>, or ""
	given    int             // how many they are
	from, to int             // tokens of its parameters' types; both 0 if they are not stated
	types    string          // those as C++
	at       int             // token where it is declared
	symbol   string          // the C function that runs one thread
}

// kernelFunction is a kernel as the source declares it: a function or a template.
type kernelFunction struct {
	path     string // of its namespace, as "a::b::"
	name     string
	template string // "<typename T, int N>", or ""
	required int    // how many arguments the template needs that have no default
	most     int    // and takes at most; −1 is any number
	params   []Param
	from, to int    // tokens of its parameters
	limit    string // max_total_threads_per_threadgroup, "(expr)" or ""
	at       int    // token where its declaration begins
	unknown  bool   // it is named alone
}

// overloaded says whether there are several kernels of the function's name.
func (r *rewriter) overloaded(f *kernelFunction) bool { return len(r.functions[f.name]) > 1 }

// declare notes a kernel. A declaration and its definition are one.
func (r *rewriter) declare(f *kernelFunction) *kernelFunction {
	for _, was := range r.functions[f.name] {
		if was.path == f.path && was.template == f.template && r.types(was.from, was.to) == r.types(f.from, f.to) {
			was.params, was.limit = f.params, max(was.limit, f.limit)
			return was
		}
	}
	r.functions[f.name] = append(r.functions[f.name], f)
	return f
}

// types are the parameters' types in tokens from..to, without their names.
func (r *rewriter) types(from, to int) string {
	if from >= to {
		return ""
	}
	var b strings.Builder
	for _, at := range r.items(from, to) {
		name := r.parameterName(at, to)
		for k := at; k < to && r.at(k) != ","; k++ {
			if _, e, ok := r.list(k); ok {
				k = e - 1
				continue
			}
			if r.at(k) == "<" {
				for e := min(r.closeAngle(k), to-1); k < e; k++ {
					b.WriteString(r.at(k) + " ")
				}
			}
			if k != name && r.at(k) != "thread" {
				b.WriteString(r.at(k) + " ")
			}
		}
		b.WriteString(", ")
	}
	return b.String()
}

// resolve finds out what each instance is one of.
func (r *rewriter) resolve() error {
	for k := range r.instances {
		in := &r.instances[k]
		if in.of != nil {
			continue
		}
		if r.functions[in.function] == nil { // clang will say so
			in.of = &kernelFunction{name: in.function, unknown: true}
			continue
		}
		all := slices.DeleteFunc(slices.Clone(r.functions[in.function]), func(f *kernelFunction) bool {
			return f.template == "" || f.most >= 0 && in.given > f.most || in.to == 0 && in.given < f.required ||
				in.to > 0 && len(f.params) != r.count(in.from, in.to)
		})
		if len(all) == 0 {
			return r.fail(in.at, "explicit instantiation of kernel %s: there is no kernel template of that name with such arguments and parameters", in.function)
		}
		if same := slices.DeleteFunc(slices.Clone(all), func(f *kernelFunction) bool { return !r.fits(f, in) }); len(same) > 0 {
			all = same
		}
		for _, f := range all[1:] {
			if !slices.EqualFunc(f.params, all[0].params, func(a, b Param) bool { a.Text, b.Text = "", ""; return a == b }) {
				return r.fail(in.at, "explicit instantiation of kernel %s: several templates take its arguments and parameters, and bind them to different indices; give them different names", in.function)
			}
		}
		in.of = all[0]
	}
	return nil
}

// count is how many items a list in tokens from..to has.
func (r *rewriter) count(from, to int) int {
	if from >= to || to == from+1 && r.at(from) == "void" {
		return 0
	}
	return len(r.items(from, to))
}

// fits says whether the types that an instantiation states are those of the template
// where they depend on no parameter of it.
func (r *rewriter) fits(f *kernelFunction, in *instance) bool {
	if in.to == 0 {
		return true
	}
	free := map[string]bool{}
	for _, w := range strings.FieldsFunc(f.template, func(c rune) bool { return !letter(byte(c)) && !digit(byte(c)) }) {
		free[w] = true
	}
	want, got := strings.Split(r.types(f.from, f.to), ", "), strings.Split(r.types(in.from, in.to), ", ")
	for k := range want {
		depends := slices.ContainsFunc(strings.Fields(want[k]), func(w string) bool { return free[w] })
		if k < len(got) && !depends && strings.ReplaceAll(want[k], "const ", "") != strings.ReplaceAll(got[k], "const ", "") {
			return false
		}
	}
	return true
}

// plain says whether the instance's name and arguments alone tell what it is.
func (r *rewriter) plain(in *instance) bool {
	return !r.overloaded(in.of) && (in.of.template == "" || in.given >= in.of.required)
}

// expression is the C++ that names an instance.
func (r *rewriter) expression(in *instance) string {
	name := in.of.path + in.of.name + in.args
	if in.of.path != "" || r.using {
		name = "::" + name
	}
	if r.plain(in) {
		return name
	}
	return "static_cast<void (*)(" + r.stated(in) + ")>(" + name + ")"
}

// stated are the parameters of an instance as they now stand.
func (r *rewriter) stated(in *instance) string {
	if in.to > 0 {
		return in.types
	}
	return r.source(in.of.from, in.of.to)
}

// limits writes, in front of each template that states a limit of threads, what
// evaluates it: it may be written with the template's parameters.
func (r *rewriter) limits() {
	for _, all := range r.functions {
		for _, f := range all {
			if f.limit == "" || f.template == "" {
				continue
			}
			text := "template " + f.template + " struct msl_limit_" + f.name + " { static constexpr unsigned value = " + f.limit + "; }; "
			if len(all) > 1 || slices.ContainsFunc(r.instances, func(in instance) bool { return in.of == f && !r.plain(&in) }) {
				text = "template " + f.template + " ::msl_k::limit<" + f.limit + "> msl_limited_" + f.name + "(" + r.source(f.from, f.to) + "); "
			}
			r.out[f.at] = text + r.out[f.at]
		}
	}
}

// limit is the C++ that tells an instance's limit of threads, or "".
func (r *rewriter) limit(in *instance) string {
	f := in.of
	switch {
	case f.limit == "" || f.template == "":
		return f.limit
	case !r.overloaded(f) && !slices.ContainsFunc(r.instances, func(o instance) bool { return o.of == f && !r.plain(&o) }):
		return f.path + "msl_limit_" + f.name + in.args + "::value"
	}
	types := "void (" + r.stated(in) + ")"
	if in.to == 0 {
		return fmt.Sprintf("::msl_k::limit_of(%smsl_limited_%s%s)", f.path, f.name, in.args)
	}
	return fmt.Sprintf("::msl_k::limit_for<%s>::value([](auto&&... p) { return %smsl_limited_%s%s(static_cast<decltype(p)>(p)...); })", types, f.path, f.name, in.args)
}
