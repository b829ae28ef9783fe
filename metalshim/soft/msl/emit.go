package msl

import (
	"fmt"
	"strings"
)

// result writes the C++ text: the source as it now stands, and for every
// kernel an extern "C" function that runs one thread of it.
func (r *rewriter) result() *Result {
	var b strings.Builder
	for i, t := range r.tok {
		b.WriteString(t.space)
		if r.out[i] != "" {
			b.WriteString(r.out[i])
		} else if !r.drop[i] && t.space == "" {
			b.WriteByte(' ')
		}
	}
	b.WriteString(r.rest)
	b.WriteString("\n# 1 \"<kernels>\"\n")
	res := &Result{Constants: r.order}
	known := map[string]bool{}
	for k, in := range r.instances {
		params, ok := r.params[in.function]
		if !ok || known[in.name] {
			continue // clang will say what is wrong with it, or the first of a name stands
		}
		known[in.name] = true
		symbol := fmt.Sprintf("msl_k_%d", k)
		var args strings.Builder
		for _, p := range params {
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
		limit := ""
		if l := r.limits[in.function]; strings.HasPrefix(l, "(") {
			limit = l
		} else if l != "" {
			limit = l + strings.TrimPrefix(in.expr, in.function) + "::value"
		}
		fmt.Fprintf(&b, "extern \"C\" __attribute__((visibility(\"default\"))) void %s(const msl_tg* g, uint lane, uint sg, uint x, uint y, uint z) { ::msl_k::call<(%s)%s>(g, lane, sg, x, y, z); }\n",
			symbol, in.expr, args.String())
		if limit != "" {
			fmt.Fprintf(&b, "extern \"C\" __attribute__((visibility(\"default\"))) uint %s_limit() { return %s; }\n", symbol, limit)
		}
		res.Kernels = append(res.Kernels, Kernel{in.name, in.function, symbol, limit != "", params})
	}
	res.CXX = b.String()
	return res
}
