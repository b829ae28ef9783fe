package msl

import (
	"fmt"
	"strings"
)

// kernels are the instances that are kernels: the first of each name, of
// functions that were read. What else is wrong with one, clang will say.
func (r *rewriter) kernels() []instance {
	var out []instance
	known := map[string]bool{}
	for k, in := range r.instances {
		if known[in.name] {
			continue
		}
		known[in.name] = true
		in.symbol = fmt.Sprintf("msl_k_%d", k)
		out = append(out, in)
	}
	return out
}

// library is the table of what was read.
func (r *rewriter) library() *Library {
	l := &Library{Constants: r.order, Others: r.others}
	for _, in := range r.kernels() {
		if in.of.unknown {
			continue
		}
		l.Kernels = append(l.Kernels, Kernel{Name: in.name, Function: in.function, Symbol: in.symbol,
			Limited: in.of.limit != "", Params: in.of.params})
	}
	return l
}

// text writes the C++: the source as it now stands, with rest behind the last
// token, and for every kernel an extern "C" function that runs one thread of it.
func (r *rewriter) text(rest string) string {
	var b strings.Builder
	for i, t := range r.tok {
		b.WriteString(t.space)
		if r.out[i] != "" {
			b.WriteString(r.out[i])
		} else if !r.drop[i] && t.space == "" {
			b.WriteByte(' ')
		}
		if after := r.after[i]; after != "" {
			b.WriteString(after)
		}
	}
	b.WriteString(rest)
	b.WriteString("\n# 1 \"<kernels>\"\n")
	for _, in := range r.kernels() {
		var args strings.Builder
		for _, p := range in.of.params {
			kind, index := "", p.Index
			switch p.Kind {
			case Buffer:
				kind = "BUF"
			case Threadgroup:
				kind = "TGM"
			default:
				kind, index = builtins[string(p.Kind)], 0
			}
			fmt.Fprintf(&args, ", ::msl_k::A< ::msl_k::%s, %d>", kind, index)
		}
		fmt.Fprintf(&b, "extern \"C\" __attribute__((visibility(\"default\"))) void %s(const msl_tg* g, uint lane, uint sg, uint x, uint y, uint z) { ::msl_k::call<(%s)%s>(g, lane, sg, x, y, z); }\n",
			in.symbol, r.expression(&in), args.String())
		limit := r.limit(&in)
		if limit != "" {
			fmt.Fprintf(&b, "extern \"C\" __attribute__((visibility(\"default\"))) uint %s_limit() { return %s; }\n", in.symbol, limit)
		}
	}
	return b.String()
}
