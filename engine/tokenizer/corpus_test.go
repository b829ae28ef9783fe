package tokenizer

import (
	"strings"
	"unicode"
)

// The corpus is corpusLines texts of many kinds, the same on every machine and
// with every version of Go: it draws on a generator and on tables of its own.
const corpusLines = 24000

// random is SplitMix64 (Steele, Lea and Flood, 2014).
type random uint64

func (r *random) next() uint64 {
	*r += 0x9E3779B97F4A7C15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// upTo returns a number from 0 to n-1.
func (r *random) upTo(n int) int { return int(r.next() % uint64(n)) }

// between returns a number from lo to hi.
func (r *random) between(lo, hi int) int { return lo + r.upTo(hi-lo+1) }

func pick[T any](r *random, from []T) T { return from[r.upTo(len(from))] }

// several returns lo to hi results of f, put together.
func (r *random) several(lo, hi int, f func(*random) string) string {
	var b strings.Builder
	for range r.between(lo, hi) {
		b.WriteString(f(r))
	}
	return b.String()
}

// blocks are ranges of scripts; some of their code points are unassigned.
var blocks = []runeRange{
	{'a', 'z'}, {'A', 'Z'}, {0xC0, 0x17F}, {0x180, 0x24F}, {0x250, 0x2AF}, {0x370, 0x3FF}, {0x400, 0x52F},
	{0x531, 0x58A}, {0x5D0, 0x5F2}, {0x621, 0x6FF}, {0x710, 0x74A}, {0x780, 0x7B1}, {0x7C0, 0x7FA}, {0x904, 0x97F},
	{0x985, 0x9FE}, {0xA05, 0xA76}, {0xA85, 0xAF1}, {0xB05, 0xB77}, {0xB85, 0xBFA}, {0xC05, 0xC7F}, {0xC85, 0xCF2},
	{0xD05, 0xD7F}, {0xD85, 0xDF4}, {0xE01, 0xE5B}, {0xE81, 0xEDF}, {0xF00, 0xFDA}, {0x1000, 0x109F}, {0x10A0, 0x10FF},
	{0x1100, 0x11FF}, {0x1200, 0x139F}, {0x13A0, 0x13FD}, {0x1401, 0x167F}, {0x1681, 0x169C}, {0x16A0, 0x16F8},
	{0x1780, 0x17F9}, {0x1800, 0x18AA}, {0x1E00, 0x1FFE}, {0x2C00, 0x2C5F}, {0x3041, 0x309F}, {0x30A0, 0x30FF},
	{0x3105, 0x312F}, {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xA000, 0xA48C}, {0xAC00, 0xD7A3}, {0xF900, 0xFAD9},
	{0xFF01, 0xFFEE}, {0x10000, 0x100FA}, {0x10330, 0x1034A}, {0x10400, 0x1044F}, {0x10A00, 0x10A58}, {0x12000, 0x123FF},
	{0x13000, 0x1345F}, {0x1D400, 0x1D7FF}, {0x1E900, 0x1E95F}, {0x20000, 0x2A6DF}, {0x30000, 0x3134A},
}

// digitZeros begin ten decimal digits each; others are numbers of other kinds.
var (
	digitZeros = []rune{'0', 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xE50,
		0xED0, 0xF20, 0x1040, 0x17E0, 0x1810, 0x1946, 0x19D0, 0xA620, 0xA8D0, 0xAA50, 0xABF0, 0xFF10, 0x104A0, 0x11066,
		0x1D7CE, 0x1D7F6, 0x1E950, 0x10D40, 0x11BF0, 0x1CCF0} // the last three are new in Unicode 16
	otherNumbers = []rune("²³¹¼½¾৴௰፩ᛮⅠⅳⅻ①⑳⒈❶〇〡㈠㊀㉈꘠𐄇𐅀𐌠𐹠𝍠🄀🄌〸㆒௲")
)

var (
	words1       = strings.Fields(`the of and Rust is a modern high-level statically typed language I'm you're they've it's don't HELLO Wörld naïve façade Straße İstanbul ﬁne ǅ x y1 3D end. Mr. e.g. "so" (yes) [no] {maybe} a/b c:\d https://example.org/p?q=1&r=%20 user@example.org #tag @name $5.00 €20 50% 1,000.5 -1e-9 0xDEADBEEF 3.14159 2024-02-29 12:34:56`)
	apostrophes  = strings.Fields("'s 't 're 've 'm 'll 'd 'S 'T 'RE 'Ve 'M 'LL 'lL 'D 'ſ 'r 'v 'l 'lx 'rest 'sun 'mud ' '' 'é 's's 'tis ’s ʼs ŉ")
	emoji        = strings.Fields("😀 👍🏽 👨\u200d👩\u200d👧\u200d👦 🏳\ufe0f\u200d🌈 🇩🇪 🇯🇵 1\ufe0f⃣ #\ufe0f⃣ ❤\ufe0f 🧑🏿\u200d💻 🫠 🪿 ☃ ☃\ufe0f 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f 👩\u200d❤\ufe0f\u200d💋\u200d👨 🇦 \u200d \ufe0f")
	punctuation  = strings.Split(".,;:!?…—–-_()[]{}<>«»„“”‘’\"'`´^~|\\/@#$%&*+=§¶†‡•·¿¡。、「」『』・！？；：、｡۔،؛؟।॥᠃᥄⸘⁂※№™©®°±×÷√∞∑∫≠≤≥←→⇒⌘␣■☺♪♯", "")
	marks        = []rune{0x300, 0x301, 0x308, 0x30A, 0x323, 0x327, 0x328, 0x345, 0x35C, 0x489, 0x591, 0x5B0, 0x64B, 0x670, 0x93C, 0x94D, 0xBCD, 0xE31, 0xE49, 0x1AB0, 0x1DC0, 0x20D0, 0x3099, 0xFE20, 0xFE0F, 0x1D165, 0xE0101}
	formats      = []rune{0xAD, 0x61C, 0x180E, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x2060, 0x2066, 0x2067, 0x2069, 0xFEFF, 0xFFF9, 0xFFFC, 0xFFFD, 0xE000, 0xFFFE, 0x10FFFF, 0xE0001}
	whiteSpace   = []rune{'\t', '\n', '\v', '\f', '\r', ' ', 0x85, 0xA0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}
	controls     = []rune{1, 2, 5, 7, 8, 0xE, 0xF, 0x10, 0x11, 0x12, 0x15, 0x17, 0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x1E, 0x1F, 0x7F, 0x80, 0x84, 0x86, 0x9F} // SmolLM2 has all of these
	specialWords = strings.Fields("<|endoftext|> <|im_start|> <|im_end|> <repo_name> <reponame> <file_sep> <filename> <gh_stars> <issue_start> <issue_comment> <issue_closed> <jupyter_start> <jupyter_text> <jupyter_code> <jupyter_output> <jupyter_script> <empty_output>")
	nearSpecial  = strings.Fields("<|im_start| |im_start|> <|IM_START|> <|im_start|>> <<|im_end|> <|im_<|im_end|> <| |> <|im_en <|im_end|<|im_end|> <repo_name <reponame_> <<filename>> <file_sep><file_sep> <|endoftext|>s <jupyter_> <empty_outpu <|im_start|>'s <|im＿start|>")
	code         = []string{"func main() {\n\tfmt.Println(\"hi\")\n}\n", "if (x == 1) {\r\n    return x++;\r\n}\r\n", "def f(x):\n    '''doc'''\n    return x**2  # it's\n\n\n", "<div class=\"a\">\n  <p>&nbsp;</p>\n</div>", "SELECT * FROM t WHERE a='s' AND b=\"d\";", "#include <stdio.h>\n\n\n\n", "let x: Vec<&'static str> = vec![\"a\"; 10];", "\\frac{1}{2}\\alpha_{i,j}", "$ cd /tmp && ls -la | grep -v '^d'\n", "x = y\t\t\t// tab\n", "0b1010_1010 1_000_000 1e10f 0x1.8p3", "{\"k\": [1, 2.5, null, true]}"}
)

// kinds are the kinds of text.
var kinds = []func(*random) string{
	func(r *random) string {
		return r.several(1, 20, func(r *random) string { return pick(r, words1) + " " })
	},
	func(r *random) string { return r.several(1, 8, scriptWord) },
	func(r *random) string {
		b := pick(r, blocks)
		return r.several(1, 60, func(r *random) string { return string(inBlock(r, b)) })
	},
	func(r *random) string {
		return r.several(1, 8, func(r *random) string { return pick(r, emoji) + pick(r, []string{"", " ", "a"}) })
	},
	func(r *random) string {
		return r.several(1, 8, func(r *random) string { return string(anyLetter(r)) + r.several(0, 4, oneOf(marks)) })
	},
	func(r *random) string { return r.several(1, 12, mix(oneOf(controls), scriptWord)) },
	func(r *random) string { return r.several(1, 12, mix(oneOf(whiteSpace), oneOf(whiteSpace), scriptWord)) },
	func(r *random) string {
		return r.several(1, 10, mix(digits, digits, oneOf(otherNumbers), scriptWord, space1))
	},
	func(r *random) string { return r.several(1, 30, mix(cjk, cjk, cjk, digits, stringOf(punctuation))) },
	func(r *random) string {
		return r.several(1, 10, mix(rtlWord, rtlWord, oneOf(formats), digits, stringOf(punctuation)))
	},
	func(r *random) string {
		return r.several(1, 8, mix(stringOf(apostrophes), scriptWord, stringOf(words1), space1))
	},
	func(r *random) string { return r.several(1, 5, mix(longRun, longRun, stringOf(words1), digits)) },
	func(r *random) string { return r.several(1, 4, stringOf(code)) },
	func(r *random) string {
		return r.several(1, 8, mix(stringOf(specialWords), stringOf(nearSpecial), stringOf(words1), space1, longRun))
	},
	func(r *random) string { return r.several(1, 20, func(r *random) string { return string(anyRune(r)) }) },
	func(r *random) string { return r.several(1, 20, mix(stringOf(punctuation), space1, scriptWord)) },
	func(r *random) string { return r.several(1, 12, mix(oneOf(formats), scriptWord, oneOf(marks), space1)) },
	func(r *random) string {
		w := string(anyLetter(r)) + string(anyLetter(r))
		return strings.Repeat(w, r.between(1, 300))
	},
}

// corpus returns the texts. Every fourth is a mix of two or three kinds.
func corpus() []string {
	r := random(20241129)
	lines := make([]string, corpusLines)
	for i := range lines {
		lines[i] = kinds[i%len(kinds)](&r)
		if i%4 == 3 {
			lines[i] += r.several(1, 2, func(r *random) string { return pick(r, kinds)(r) })
		}
	}
	return lines
}

func mix(parts ...func(*random) string) func(*random) string {
	return func(r *random) string { return pick(r, parts)(r) }
}

func oneOf(runes []rune) func(*random) string {
	return func(r *random) string { return string(pick(r, runes)) }
}

func stringOf(s []string) func(*random) string {
	return func(r *random) string { return pick(r, s) }
}

func space1(*random) string { return " " }

func inBlock(r *random, b runeRange) rune { return b.lo + rune(r.upTo(int(b.hi-b.lo)+1)) }

func anyLetter(r *random) rune { return inBlock(r, pick(r, blocks)) }

// scriptWord is a word of one script, mostly after a space.
func scriptWord(r *random) string {
	b := pick(r, blocks)
	w := r.several(1, 9, func(r *random) string { return string(inBlock(r, b)) })
	if r.upTo(4) > 0 {
		return " " + w
	}
	return w
}

func digits(r *random) string {
	zero := pick(r, digitZeros)
	return r.several(1, 6, func(r *random) string { return string(zero + rune(r.upTo(10))) })
}

func cjk(r *random) string {
	return string(inBlock(r, pick(r, []runeRange{{0x4E00, 0x9FFF}, {0x3041, 0x3096}, {0x30A1, 0x30FC}, {0xAC00, 0xD7A3}, {0x3000, 0x303F}, {0xFF01, 0xFF65}})))
}

func rtlWord(r *random) string {
	b := pick(r, []runeRange{{0x5D0, 0x5EA}, {0x620, 0x64A}, {0x710, 0x72F}, {0x7C0, 0x7EA}, {0x591, 0x5C7}, {0xFB1D, 0xFDFB}, {0x1EE00, 0x1EEBB}})
	return r.several(1, 7, func(r *random) string { return string(inBlock(r, b)) }) + " "
}

// longRun is one white space character or punctuation many times.
func longRun(r *random) string {
	return strings.Repeat(pick(r, []string{" ", " ", "\n", "\t", "\r\n", "\r", "\u00A0", "\u3000", "\n ", " \n", "-", "=", "."}), r.between(1, 120))
}

// anyRune is any code point that the bytes of SmolLM2's vocabulary can spell:
// planes 4 to 11 need the bytes F1 and F2, which it lacks, and so are six
// control characters.
func anyRune(r *random) rune {
	for {
		c := rune(r.upTo(unicode.MaxRune + 1))
		if r.upTo(2) > 0 {
			c = rune(r.upTo(0x20000))
		}
		if c < 0x20 || c >= 0xD800 && c < 0xE000 || c >= 0x40000 && c < 0xC0000 {
			continue
		}
		return c
	}
}
