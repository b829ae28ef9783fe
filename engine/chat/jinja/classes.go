package jinja

import (
	"strings"
	"unicode"
)

// every is whether a text has characters, all of a class.
func every(is func(rune) bool) textMethod {
	return func(r *run, s string, args given) any {
		r.take("the method", args)
		return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return !is(c) })
	}
}

func isDecimal(c rune) bool { return unicode.Is(unicode.Nd, c) }

// isDigit holds also of superscripts and circled digits.
func isDigit(c rune) bool {
	return isDecimal(c) || strings.ContainsRune("²³¹⁰⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", c) || c >= 0x2460 && c <= 0x2468
}

func isNumeric(c rune) bool { return unicode.IsNumber(c) }
func isAlpha(c rune) bool   { return unicode.IsLetter(c) }
func isAlnum(c rune) bool   { return unicode.IsLetter(c) || unicode.IsNumber(c) }

// cased is whether a text has letters of two cases, all of one.
func cased(same, other func(string) string) textMethod {
	return func(r *run, s string, args given) any {
		r.take("the method", args)
		r.grow(2 * len(s))
		return s == same(s) && s != other(s)
	}
}

func swapcase(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsUpper(c) {
			return unicode.ToLower(c)
		}
		return unicode.ToUpper(c)
	}, s)
}
