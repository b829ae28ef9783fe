package jinja

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The characters of Unicode's SpecialCasing.txt that become several when they are
// made large, and at the start of a word, each followed by what it becomes. Go's
// strings package leaves them as they are.
const (
	largeSpecial = "ßSS ŉʼN ǰJ\u030c ΐΙ\u0308\u0301 ΰΥ\u0308\u0301 \u0587\u0535\u0552 \u1e96H\u0331 \u1e97T\u0308 \u1e98W\u030a \u1e99Y\u030a \u1e9aAʾ" +
		" \u1f50Υ\u0313 \u1f52Υ\u0313\u0300 \u1f54Υ\u0313\u0301 \u1f56Υ\u0313\u0342 \u1f80\u1f08Ι \u1f81\u1f09Ι \u1f82\u1f0aΙ \u1f83\u1f0bΙ" +
		" \u1f84\u1f0cΙ \u1f85\u1f0dΙ \u1f86\u1f0eΙ \u1f87\u1f0fΙ \u1f88\u1f08Ι \u1f89\u1f09Ι \u1f8a\u1f0aΙ \u1f8b\u1f0bΙ \u1f8c\u1f0cΙ \u1f8d\u1f0dΙ" +
		" \u1f8e\u1f0eΙ \u1f8f\u1f0fΙ \u1f90\u1f28Ι \u1f91\u1f29Ι \u1f92\u1f2aΙ \u1f93\u1f2bΙ \u1f94\u1f2cΙ \u1f95\u1f2dΙ \u1f96\u1f2eΙ \u1f97\u1f2fΙ" +
		" \u1f98\u1f28Ι \u1f99\u1f29Ι \u1f9a\u1f2aΙ \u1f9b\u1f2bΙ \u1f9c\u1f2cΙ \u1f9d\u1f2dΙ \u1f9e\u1f2eΙ \u1f9f\u1f2fΙ \u1fa0\u1f68Ι \u1fa1\u1f69Ι" +
		" \u1fa2\u1f6aΙ \u1fa3\u1f6bΙ \u1fa4\u1f6cΙ \u1fa5\u1f6dΙ \u1fa6\u1f6eΙ \u1fa7\u1f6fΙ \u1fa8\u1f68Ι \u1fa9\u1f69Ι \u1faa\u1f6aΙ \u1fab\u1f6bΙ" +
		" \u1fac\u1f6cΙ \u1fad\u1f6dΙ \u1fae\u1f6eΙ \u1faf\u1f6fΙ \u1fb2\u1fbaΙ \u1fb3ΑΙ \u1fb4ΆΙ \u1fb6Α\u0342 \u1fb7Α\u0342Ι \u1fbcΑΙ \u1fc2\u1fcaΙ" +
		" \u1fc3ΗΙ \u1fc4ΉΙ \u1fc6Η\u0342 \u1fc7Η\u0342Ι \u1fccΗΙ \u1fd2Ι\u0308\u0300 \u1fd3Ι\u0308\u0301 \u1fd6Ι\u0342 \u1fd7Ι\u0308\u0342" +
		" \u1fe2Υ\u0308\u0300 \u1fe3Υ\u0308\u0301 \u1fe4Ρ\u0313 \u1fe6Υ\u0342 \u1fe7Υ\u0308\u0342 \u1ff2\u1ffaΙ \u1ff3ΩΙ \u1ff4ΏΙ \u1ff6Ω\u0342" +
		" \u1ff7Ω\u0342Ι \u1ffcΩΙ ﬀFF ﬁFI ﬂFL ﬃFFI ﬄFFL ﬅST ﬆST \ufb13\u0544\u0546 \ufb14\u0544\u0535 \ufb15\u0544\u053b \ufb16\u054e\u0546" +
		" \ufb17\u0544\u053d"
	titleSpecial = "ßSs ŉʼN ǰJ\u030c ΐΙ\u0308\u0301 ΰΥ\u0308\u0301 \u0587\u0535\u0582 \u1e96H\u0331 \u1e97T\u0308 \u1e98W\u030a \u1e99Y\u030a \u1e9aAʾ" +
		" \u1f50Υ\u0313 \u1f52Υ\u0313\u0300 \u1f54Υ\u0313\u0301 \u1f56Υ\u0313\u0342 \u1fb2\u1fba\u0345 \u1fb4Ά\u0345 \u1fb6Α\u0342 \u1fb7Α\u0342\u0345" +
		" \u1fc2\u1fca\u0345 \u1fc4Ή\u0345 \u1fc6Η\u0342 \u1fc7Η\u0342\u0345 \u1fd2Ι\u0308\u0300 \u1fd3Ι\u0308\u0301 \u1fd6Ι\u0342 \u1fd7Ι\u0308\u0342" +
		" \u1fe2Υ\u0308\u0300 \u1fe3Υ\u0308\u0301 \u1fe4Ρ\u0313 \u1fe6Υ\u0342 \u1fe7Υ\u0308\u0342 \u1ff2\u1ffa\u0345 \u1ff4Ώ\u0345 \u1ff6Ω\u0342" +
		" \u1ff7Ω\u0342\u0345 ﬀFf ﬁFi ﬂFl ﬃFfi ﬄFfl ﬅSt ﬆSt \ufb13\u0544\u0576 \ufb14\u0544\u0565 \ufb15\u0544\u056b \ufb16\u054e\u0576" +
		" \ufb17\u0544\u056d"
)

// Made when they are first asked for: most templates never do.
var (
	large  = sync.OnceValue(func() map[rune]string { return special(largeSpecial) })
	titled = sync.OnceValue(func() map[rune]string { return special(titleSpecial) })
)

func special(table string) map[rune]string {
	out := map[rune]string{}
	for entry := range strings.FieldsSeq(table) {
		c, n := utf8.DecodeRuneInString(entry)
		out[c] = entry[n:]
	}
	return out
}

// upper makes all letters large.
func upper(s string) string { return mapped(s, large(), unicode.ToUpper) }

func mapped(s string, table map[rune]string, one func(rune) rune) string {
	var b strings.Builder
	for _, c := range s {
		if many, ok := table[c]; ok {
			b.WriteString(many)
		} else {
			b.WriteRune(one(c))
		}
	}
	return b.String()
}

// lower makes all letters small; a sigma at the end of a word has a form of its own.
func lower(s string) string {
	var b strings.Builder
	for i, c := range s {
		switch {
		case c == 'İ':
			b.WriteString("i\u0307")
		case c == 'Σ':
			b.WriteString(sigma(s, i))
		default:
			b.WriteRune(unicode.ToLower(c))
		}
	}
	return b.String()
}

// sigma is the small form of the sigma at s[i].
func sigma(s string, i int) string {
	if letterBeside(s[:i], true) && !letterBeside(s[i+len("Σ"):], false) {
		return "ς"
	}
	return "σ"
}

// letterBeside is whether a letter with two cases ends or begins s, but for what
// stands on letters and apostrophes.
func letterBeside(s string, ends bool) bool {
	for s != "" {
		c, n := utf8.DecodeRuneInString(s)
		if ends {
			c, n = utf8.DecodeLastRuneInString(s)
		}
		if !unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) && !strings.ContainsRune("'.:·\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a", c) {
			return hasCase(c)
		}
		if ends {
			s = s[:len(s)-n]
		} else {
			s = s[n:]
		}
	}
	return false
}

func hasCase(c rune) bool {
	return unicode.IsUpper(c) || unicode.IsLower(c) || unicode.IsTitle(c)
}

// title makes the first letter of each word large and the others small: of letters
// in a row, as str.title does.
func title(s string) string {
	var b strings.Builder
	within := false
	for i, c := range s {
		end := i + utf8.RuneLen(c)
		if !within {
			b.WriteString(mapped(s[i:end], titled(), unicode.ToTitle))
		} else if c == 'Σ' {
			b.WriteString(sigma(s, i))
		} else {
			b.WriteString(lower(s[i:end]))
		}
		within = hasCase(c)
	}
	return b.String()
}

// capitalize makes the first character large and the others small.
func capitalize(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return mapped(s[:n], titled(), unicode.ToTitle) + lower(s)[len(lower(s[:n])):]
}
