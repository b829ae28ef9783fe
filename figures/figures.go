// Package figures prints numbers: for people with at least three digits that
// count, whatever the magnitude, and for programs with all of them.
package figures

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// digits is how many digits of a number count at least.
const digits = 3

// most is how many decimals a number has at most before it is printed with an
// exponent.
const most = 9

// Text is v with so many decimals, and with more where fewer than three digits
// would count: 35.5, 7.30 and 0.00412 with one decimal.
func Text(v float64, decimals int) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.FormatFloat(v, 'f', decimals, 64)
	}
	decimals = max(decimals, digits-1-exponent(v))
	if decimals > most {
		return strconv.FormatFloat(v, 'e', digits-1, 64)
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// exponent is that of v to the base of ten, when it has been rounded to the
// digits that count.
func exponent(v float64) int {
	_, power, _ := strings.Cut(strconv.FormatFloat(v, 'e', digits-1, 64), "e")
	n, _ := strconv.Atoi(power) // what FormatFloat writes is a number
	return n
}

// Exact is v as the shortest text that is read as v again, without an exponent.
func Exact(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Missing stands for a time that is not known, and None is what is printed of it.
const (
	Missing time.Duration = -1
	None                  = "–"
)

// Milliseconds is d in milliseconds, with one decimal as the experiment printed
// it, and more where fewer than three digits would count; but none below the
// nanosecond, which is the clock's. Lines, tables and the console agree to the last
// digit because all print through it.
func Milliseconds(d time.Duration) string {
	if d == Missing {
		return None
	}
	const nanosecond = 6
	ms := float64(d) / 1e6
	if d != 0 && digits-1-exponent(ms) > nanosecond {
		return strconv.FormatFloat(ms, 'f', nanosecond, 64)
	}
	return Text(ms, 1)
}

// Percent is a part as "2.13 %", "13.1 %" or "120 %".
func Percent(part float64) string { return Text(100*part, 0) + " %" }

// Signed is Text with a sign also before what is more than 0.
func Signed(v float64, decimals int) string {
	if v > 0 {
		return "+" + Text(v, decimals)
	}
	return Text(v, decimals)
}

// Number is a number of things by their name: "1 run", "3 runs".
func Number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// Verb is what one thing does, or several do: "is", "are".
func Verb(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// Count is a number of things, or the mean of some: whole numbers have no
// decimals.
func Count(v float64) string {
	if v == math.Trunc(v) {
		return Exact(v)
	}
	return Text(v, 1)
}

// Size is a number of bytes for people, in decimal units as disks and registries
// count them: 144.8 MB.
func Size(n int64) string {
	switch {
	case n >= 1e9:
		return Text(float64(n)/1e9, 1) + " GB"
	case n >= 1e6:
		return Text(float64(n)/1e6, 1) + " MB"
	case n >= 1e3:
		return Text(float64(n)/1e3, 1) + " kB"
	}
	return strconv.FormatInt(n, 10) + " bytes"
}
