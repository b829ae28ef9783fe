package include

import (
	"errors"
	"regexp"
	"strings"
	"syscall"
)

// directive is a line that speaks to the preprocessor.
type directive struct{ word, rest string }

// scanner finds directives in the lines of a text, one after another. It knows
// comments, so that what stands in one is none.
type scanner struct {
	comment   bool // the line begins within /* */
	continued bool // the line before ends in a backslash
}

// directive says whether the next line is one.
func (s *scanner) directive(line string) (d directive, is bool) {
	text, begins := s.uncommented(line)
	if !begins {
		return d, false
	}
	rest, is := strings.CutPrefix(strings.TrimSpace(text), "#")
	if !is {
		return d, false
	}
	rest = strings.TrimSpace(rest)
	n := 0
	for n < len(rest) && (rest[n] == '_' || rest[n] >= 'a' && rest[n] <= 'z') {
		n++
	}
	return directive{rest[:n], rest[n:]}, true
}

// uncommented is the line without comments, and whether a logical line begins with
// it.
func (s *scanner) uncommented(line string) (text string, begins bool) {
	begins = !s.continued
	var b strings.Builder
	body := strings.TrimRight(line, "\r\n")
	s.continued = strings.HasSuffix(body, `\`)
	for i := 0; i < len(body); {
		switch {
		case s.comment:
			end := strings.Index(body[i:], "*/")
			if end < 0 {
				return b.String(), begins
			}
			s.comment = false
			b.WriteByte(' ')
			i += end + 2
		case strings.HasPrefix(body[i:], "/*"):
			s.comment = true
			i += 2
		case strings.HasPrefix(body[i:], "//"):
			return b.String(), begins
		case body[i] == '"' || body[i] == '\'':
			end := literal(body, i)
			b.WriteString(body[i:end])
			i = end
		default:
			b.WriteByte(body[i])
			i++
		}
	}
	return b.String(), begins
}

// literal is where the literal that begins at i ends. One without an end is the
// apostrophe of a comment's or an #error's text, or of 1'000: a character.
func literal(s string, i int) int {
	for k := i + 1; k < len(s); k++ {
		switch s[k] {
		case '\\':
			k++
		case s[i]:
			return k + 1
		}
	}
	return i + 1
}

// fileName is what a directive includes.
func fileName(rest string) (name string, quoted, ok bool) {
	rest = strings.TrimSpace(rest)
	if len(rest) < 3 {
		return "", false, false
	}
	closing := map[byte]byte{'"': '"', '<': '>'}[rest[0]]
	end := strings.IndexByte(rest[1:], closing)
	if closing == 0 || end < 1 {
		return "", false, false
	}
	return rest[1 : 1+end], rest[0] == '"', true
}

var asksFor = regexp.MustCompile(`__has_include\s*\(\s*("[^"]+"|<[^>]+>)\s*\)`)

// hasInclude answers what a condition asks of the files that are here. Of others
// the compiler knows.
func (j *joiner) hasInclude(from, line string) string {
	return asksFor.ReplaceAllStringFunc(line, func(ask string) string {
		name, quoted, ok := fileName(asksFor.FindStringSubmatch(ask)[1])
		if !ok {
			return ask
		}
		if h, err := j.find(from, name, quoted); err != nil || h == nil {
			return ask
		}
		return "1"
	})
}

// guardOf says whether a second inclusion of a header is nothing, and by which
// macro: #ifndef X, #define X and #endif around all of its text.
func guardOf(text string) (once bool, guard string) {
	s := scanner{}
	var seen []directive
	depth, closed, outside := 0, false, false
	for line := range strings.Lines(text) {
		before := s
		d, is := s.directive(line)
		if !is {
			plain, _ := before.uncommented(line)
			outside = outside || depth == 0 && strings.TrimSpace(plain) != ""
			continue
		}
		if d.word == "pragma" && strings.TrimSpace(d.rest) == "once" && depth == 0 {
			return true, ""
		}
		if closed {
			outside = true
		}
		if len(seen) < 2 {
			seen = append(seen, d)
		}
		switch d.word {
		case "if", "ifdef", "ifndef":
			depth++
		case "else", "elif":
			outside = outside || depth == 1
		case "endif":
			depth--
			closed = depth == 0
		default:
			outside = outside || depth == 0
		}
	}
	if outside || !closed || len(seen) < 2 || seen[0].word != "ifndef" || seen[1].word != "define" {
		return false, ""
	}
	name := strings.TrimSpace(seen[0].rest)
	if defined := strings.Fields(seen[1].rest); len(defined) == 0 || defined[0] != name {
		return false, ""
	}
	return true, name
}

// notAFolder says that a part of a path is a file, or that the path is a folder: no
// header is there.
func notAFolder(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR)
}
