package jinja

import (
	"fmt"
	"strings"
	"time"
)

// strftime writes a time as C's strftime does in the locale C, on Linux: - behind
// the % drops leading zeros, _ makes blanks of them, ^ makes large letters. What is
// no directive stays as it is. The time has no zone, as Python's datetime.now().
func strftime(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		at, flag := i+1, byte(0)
		if strings.IndexByte("-_0^", format[at]) >= 0 && at+1 < len(format) {
			flag, at = format[at], at+1
		}
		text, ok := directive(t, format[at], flag)
		if !ok {
			b.WriteByte('%')
			continue
		}
		if flag == '^' {
			text = strings.ToUpper(text)
		}
		b.WriteString(text)
		i = at
	}
	return b.String()
}

func directive(t time.Time, c, flag byte) (string, bool) {
	pad := func(n, width int, fill byte) (string, bool) {
		switch flag {
		case '-':
			return fmt.Sprint(n), true
		case '_':
			fill = ' '
		case '0':
			fill = '0'
		}
		if fill == ' ' {
			return fmt.Sprintf("%*d", width, n), true
		}
		return fmt.Sprintf("%0*d", width, n), true
	}
	hour := (t.Hour()+11)%12 + 1
	weekday := int(t.Weekday())
	year, week := t.ISOWeek()
	switch c {
	case 'd':
		return pad(t.Day(), 2, '0')
	case 'e':
		return pad(t.Day(), 2, ' ')
	case 'm':
		return pad(int(t.Month()), 2, '0')
	case 'y':
		return pad(t.Year()%100, 2, '0')
	case 'C':
		return pad(t.Year()/100, 2, '0')
	case 'Y':
		return pad(t.Year(), 1, '0')
	case 'G':
		return pad(year, 1, '0')
	case 'V':
		return pad(week, 2, '0')
	case 'H':
		return pad(t.Hour(), 2, '0')
	case 'k':
		return pad(t.Hour(), 2, ' ')
	case 'I':
		return pad(hour, 2, '0')
	case 'l':
		return pad(hour, 2, ' ')
	case 'M':
		return pad(t.Minute(), 2, '0')
	case 'S':
		return pad(t.Second(), 2, '0')
	case 'f':
		return fmt.Sprintf("%06d", t.Nanosecond()/1000), true
	case 'j':
		return pad(t.YearDay(), 3, '0')
	case 'u':
		return pad((weekday+6)%7+1, 1, '0')
	case 'w':
		return pad(weekday, 1, '0')
	case 'U':
		return pad((t.YearDay()-1+7-weekday)/7, 2, '0')
	case 'W':
		return pad((t.YearDay()-1+7-(weekday+6)%7)/7, 2, '0')
	}
	layout, ok := map[byte]string{
		'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January", 'p': "PM", 'P': "pm",
		'c': "Mon Jan _2 15:04:05 2006", 'D': "01/02/06", 'x': "01/02/06", 'F': "2006-01-02",
		'T': "15:04:05", 'X': "15:04:05", 'R': "15:04", 'r': "03:04:05 PM",
	}[c]
	if ok {
		return t.Format(layout), true
	}
	text, ok := map[byte]string{'n': "\n", 't': "\t", '%': "%", 'z': "", 'Z': "", 's': fmt.Sprint(t.Unix())}[c]
	return text, ok
}
