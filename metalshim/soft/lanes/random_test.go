package lanes

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// generator writes random kernels whose lanes part in all ways the language
// has. Their results do not depend on the order in which lanes run.
type generator struct {
	r     *rand.Rand
	b     strings.Builder
	depth int
	loops int
	names int
}

func (g *generator) pick(s ...string) string { return s[g.r.IntN(len(s))] }

// expr is an unsigned expression; uniform ones are the same in all lanes.
func (g *generator) expr(depth int) string {
	if depth == 0 || g.r.IntN(4) == 0 {
		return g.pick("a", "b", "c", "d", "lane", "t", "sg", "x", "n", strconv.Itoa(g.r.IntN(40)), "a", "b", "c")
	}
	x, y := g.expr(depth-1), g.expr(depth-1)
	switch g.r.IntN(22) {
	case 16: // an index that wraps below zero where it must not matter
		return "(lane >= 5 ? IN(uint, 1)[lane - 5 + " + strconv.Itoa(g.r.IntN(9)) + "] : " + x + ")"
	case 17:
		return "IN(uint, 1)[n + t - " + strconv.Itoa(g.r.IntN(3)) + "]"
	case 18:
		return "(uint)IN(ulong, 1)[(ulong)(sg * 32 + lane) + " + x + " % 8ul]"
	case 19:
		return "(uint)IN(float4, 3)[" + g.pick("lane", "t / 4", x+" % 16") + "][" + x + " % 4]"
	case 20:
		return "pair(" + x + ", " + y + ")"
	case 21:
		return "(uint)(int)(short)(" + x + " >> " + strconv.Itoa(g.r.IntN(5)) + ")"
	case 0:
		return "(" + x + " / (" + y + " % 7 + 1))"
	case 1:
		return "(" + x + " % (" + y + " % 9 + 1))"
	case 2:
		return "(" + x + " >> (" + y + " % 8))"
	case 3:
		return "(" + x + " < " + y + " ? " + g.expr(depth-1) + " : " + x + ")"
	case 4:
		return "IN(uint, 1)[" + x + " % 200]"
	case 5:
		return "(uint)IN(uchar, 2)[(" + x + ") % 250 + " + strconv.Itoa(g.r.IntN(4)) + "]"
	case 6:
		return "(uint)(int)IN(short, 2)[(lane + " + x + " % 8) % 100]"
	case 7:
		return "(uint)(IN(float, 3)[lane + " + strconv.Itoa(g.r.IntN(30)) + "] * 3.0f)"
	case 8:
		return "arr[" + x + " % 6]"
	case 9:
		return "(uint)IN(ulong, 1)[" + x + " % 32]"
	case 10:
		return "(" + x + " " + g.pick("<<", "*") + " " + strconv.Itoa(g.r.IntN(6)) + ")"
	default:
		return "(" + x + " " + g.pick("+", "-", "^", "&", "|", "+", "*") + " " + y + ")"
	}
}

func (g *generator) cond() string {
	if g.r.IntN(4) == 0 { // the same in all lanes
		return g.pick("n", "sg", "IN(uint, 1)[3]", "g->tgp[0]") + " % " + strconv.Itoa(2+g.r.IntN(3)) + " == " + strconv.Itoa(g.r.IntN(2))
	}
	return g.expr(2) + g.pick(" < ", " % 3 == ", " > ", " % 2 != ") + g.expr(1)
}

func (g *generator) line(format string, args ...any) {
	g.b.WriteString(strings.Repeat("  ", g.depth+1))
	fmt.Fprintf(&g.b, format+"\n", args...)
}

func (g *generator) block(n int, barriers bool) {
	g.depth++
	for range 1 + g.r.IntN(n) {
		g.statement(barriers)
	}
	g.depth--
}

// simdOps are cross-lane operations with one argument, as format strings.
var simdOps = []string{"msl_sy_iadd(%s)", "msl_sy_umax(%s)", "(uint)msl_sy_smin((int)(%s))", "msl_sy_xor(%s)", "msl_sy_imul(%s | 1)",
	"msl_sy_ipadd(%s)", "msl_sy_ixadd(%s)", "msl_sy_ballot(%s & 1)", "msl_sy_first(%s)", "msl_sy_active() + %s",
	"(uint)msl_sy_fadd((float)(%s %% 8))", "(uint)(int)msl_sy_fmax((float)(%s %% 100))"}

func (g *generator) statement(barriers bool) {
	v := g.pick("a", "b", "c", "d")
	k := g.r.IntN(20)
	if g.depth > 4 && k >= 8 && k < 14 {
		k = 0
	}
	switch k {
	case 0, 1, 2:
		g.line("%s %s %s;", v, g.pick("=", "+=", "^=", "="), g.expr(3))
	case 3, 4:
		g.line("%s += "+g.pick(simdOps...)+";", v, g.expr(1))
	case 5:
		g.line("%s ^= "+g.pick("msl_sy_sh(%s, %s)", "msl_sy_bc(%s, %s)", "(uint)msl_sy_shl(%s * 3ul, %s)")+";", v,
			g.expr(1), g.pick("lane ^ 1", "lane + 3", "(lane * 5) % 32", "a % 32", "lane - 2", "n % 32"))
	case 6:
		g.line("arr[%s %% 6] %s %s;", g.expr(1), g.pick("=", "+="), g.expr(2))
	case 7:
		g.line("%s[(t * 4 + %s %% 4)] = %s;", g.pick("OUT(uint, 0)", "OUT(uchar, 4)", "OUT(ushort, 5)"), g.expr(1), g.expr(2))
	case 8, 9:
		g.line("if (%s) {", g.cond())
		g.block(3, false)
		if g.r.IntN(2) == 0 {
			g.line("} else {")
			g.block(3, false)
		}
		g.line("}")
	case 10, 11:
		g.names++
		i := fmt.Sprintf("i%d", g.names)
		bound := g.pick("lane % 5", "n % 4 + 1", "(a + lane) % 4", "3", "12", g.expr(1)+" % 4")
		g.line("for (uint %s = 0, e%s = %s; %s < e%s; %s++) {", i, i, bound, i, i, i)
		g.loops++
		g.line("  %s += %s;", v, i)
		g.block(3, false)
		g.loops--
		g.line("}")
	case 12:
		g.line("switch (%s %% 4) {", g.expr(1))
		for c := range 3 {
			g.line("case %d:", c)
			g.block(2, false)
			if g.r.IntN(3) > 0 {
				g.line("  break;")
			}
		}
		g.line("}")
	case 13:
		if g.loops > 0 {
			g.line("if (%s) %s;", g.cond(), g.pick("break", "continue"))
		} else if g.r.IntN(3) == 0 {
			g.line("if (%s %% 5 == 1) return;", g.pick("lane", "a", "b", "t"))
		}
	default:
		if !barriers {
			g.line("%s += %s;", v, g.expr(2))
			return
		}
		if g.r.IntN(3) == 0 {
			g.names++
			g.line("for (uint k%d = 0; k%d < n %% 3 + 1; k%d++) {", g.names, g.names, g.names)
			g.depth++
			g.exchange(v)
			g.block(2, false)
			g.depth--
			g.line("}")
			return
		}
		g.exchange(v)
	}
}

func (g *generator) exchange(v string) {
	g.line("shared[t] = %s; msl_sy_tgbar(); %s += shared[(t + %d) %% n]; msl_sy_tgbar();", g.pick("a", "b", "c"), v, g.r.IntN(70))
}

// kernel returns the text of a random kernel.
func randomKernel(seed uint64) string {
	g := &generator{r: rand.New(rand.NewPCG(seed, 1))}
	g.b.WriteString("static inline uint pair(uint x, uint y) { float2 v = {(float)(x % 64), (float)(y % 64)}; v = v * v + v.yx; return (uint)v.x * 3 + (uint)v.y; }\n" +
		"THREADGROUP uint shared[1024];\nKERNEL {\n  uint n = g->tgd[0] * g->tgd[1], t = sg * 32 + lane, a = t, b = 7, c = lane * 3, d = x + y;\n" +
		"  uint arr[6] = {t, 1, 2, lane, 4, 5};\n  shared[t] = t; msl_sy_tgbar();\n")
	for range 4 + g.r.IntN(6) {
		g.statement(true)
	}
	g.b.WriteString("  OUT(uint, 0)[t * 4] = a ^ (b * 3) ^ (c * 5) ^ (d * 7) ^ arr[a % 6];\n}\n")
	return g.b.String()
}

// TestRandomKernels runs random kernels in both forms and compares. More of
// them: LANES_SEEDS=1000:2000 go test -run RandomKernels.
func TestRandomKernels(t *testing.T) {
	first, last := uint64(1), uint64(8)
	if s := os.Getenv("LANES_SEEDS"); s != "" {
		if _, err := fmt.Sscanf(s, "%d:%d", &first, &last); err != nil {
			t.Fatalf("LANES_SEEDS=%q: want FIRST:LAST", s)
		}
	}
	for seed := first; seed <= last; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			src := randomKernel(seed)
			ir := oneLane(t, src)
			scalar, fast := build(t, ir, Options{Scalar: true}), build(t, ir, Options{})
			for _, tgd := range [][3]uint32{{64, 1, 1}, {45, 1, 1}, {6, 7, 1}} {
				run := func(p program) []uint32 {
					r := rand.New(rand.NewPCG(seed, 2))
					threads := tgd[0] * tgd[1] * tgd[2]
					in := make([]uint32, 256)
					for i := range in {
						in[i] = r.Uint32() % 1000
					}
					bytes := make([]uint8, 256)
					for i := range bytes {
						bytes[i] = uint8(r.Uint32())
					}
					floats := make([]float32, 128)
					for i := range floats {
						floats[i] = float32(r.IntN(50))
					}
					out, out8, out16 := make([]uint32, 4*threads), make([]uint8, 4*threads), make([]uint16, 4*threads)
					p.run(t, dispatch{tgd: tgd, ntg: [3]uint32{2, 1, 1}, bufs: []any{out, in, bytes, floats, out8, out16}})
					for i := range out8 {
						out = append(out, uint32(out8[i]), uint32(out16[i]))
					}
					return out
				}
				want, got := run(scalar), run(fast)
				for i := range want {
					if want[i] != got[i] {
						t.Fatalf("threadgroup %v: word %d is %d in the masked form, %d in the fast one; kernel:\n%s", tgd, i, want[i], got[i], src)
					}
				}
			}
		})
	}
}
