// Package shellwords writes and reads a command line as a POSIX shell does: its
// words, quoted where they must be. Nothing is expanded.
package shellwords

import (
	"errors"
	"strings"
)

// special are the characters that make a shell do something with a word.
const special = " \t\n'\"\\$`;&|<>()*?[]{}~#!="

// Quote is one word as a shell takes it.
func Quote(word string) string {
	if word != "" && !strings.ContainsAny(word, special) {
		return word
	}
	// An option's name and = need no quotes: --fault='a;b' reads better.
	if name, value, ok := strings.Cut(word, "="); ok && name != "" && !strings.ContainsAny(name, special) {
		if !strings.ContainsAny(value, special[:len(special)-1]) {
			return word
		}
		return name + "=" + single(value)
	}
	return single(word)
}

func single(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// Join is a command line of words.
func Join(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}

// Split returns the words of a command line: blanks part them, a backslash
// takes the next character as it is, single quotes all between them, double
// quotes all but a backslash before ", \, $, ` and a line break (Shell Command
// Language, IEEE Std 1003.1-2017, 2.2). $, `, * and the like are refused where
// a shell would expand them, so that nobody relies on it.
func Split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	begun := false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n':
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
			continue
		case c == '\\':
			if i++; i == len(line) {
				return nil, errors.New("a backslash stands at its end")
			}
			word.WriteByte(line[i])
		case c == '\'':
			n := strings.IndexByte(line[i+1:], '\'')
			if n < 0 {
				return nil, errors.New("a single quote is not closed")
			}
			word.WriteString(line[i+1 : i+1+n])
			i += n + 1
		case c == '"':
			n, err := double(&word, line[i+1:])
			if err != nil {
				return nil, err
			}
			i += n
		case strings.IndexByte("$`;&|<>()*?[", c) >= 0:
			return nil, errors.New("a shell would not take " + string(c) + " as it is, and nothing is expanded here: quote it")
		default:
			word.WriteByte(c)
		}
		begun = true
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}

// double reads what stands in double quotes, and says how many bytes that are
// with the closing one.
func double(word *strings.Builder, rest string) (int, error) {
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '"':
			return i + 1, nil
		case c == '\\' && i+1 < len(rest) && strings.IndexByte("\"\\$`\n", rest[i+1]) >= 0:
			i++
			word.WriteByte(rest[i])
		case c == '$' || c == '`':
			return 0, errors.New("a shell would expand " + string(c) + " in double quotes, and nothing is expanded here: use single quotes")
		default:
			word.WriteByte(c)
		}
	}
	return 0, errors.New("a double quote is not closed")
}
