package apple

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/objc"
)

// languageVersion turns "3.1" into MTLLanguageVersion, 3<<16 | 1.
func languageVersion(v string) (uint64, error) {
	major, minor, ok := strings.Cut(v, ".")
	a, err1 := strconv.ParseUint(major, 10, 8)
	b, err2 := strconv.ParseUint(minor, 10, 8)
	if !ok || err1 != nil || err2 != nil || a < 1 {
		return 0, fmt.Errorf("language version %q: want one such as 3.1", v)
	}
	return a<<16 | b, nil
}

// newestLanguage is the newest version of MSL that a macOS compiles (Apple,
// MTLLanguageVersion), 3.2 at most, for which the kernels are tested. It is
// always set: by itself the system would take that of the SDK named in the
// executable, and Go's linker writes an old one.
func newestLanguage(system objc.Version) string {
	switch {
	case system.Major >= 15:
		return "3.2"
	case system.Major == 14:
		return "3.1"
	case system.Major == 13:
		return "3.0"
	}
	return "2.4"
}

// compileOptions makes the MTLCompileOptions of a source, +1, as candle 0.11.0
// does: on macOS 15 and later by math mode and math functions, before by fast
// math. What was set is read back: a system that takes something else would
// compile something else.
func (d *Device) compileOptions(o metalshim.CompileOptions) (mtlOptions, error) {
	language := d.language
	if o.LanguageVersion != "" {
		var err error
		if language, err = languageVersion(o.LanguageVersion); err != nil {
			return mtlOptions{}, err
		}
	}
	switch o.MathMode {
	case metalshim.MathSafe, metalshim.MathRelaxed, metalshim.MathFast:
	default:
		return mtlOptions{}, fmt.Errorf("math mode %d: it must be 0, 1 or 2", o.MathMode)
	}
	switch o.MathFunctions {
	case metalshim.FastFunctions, metalshim.PreciseFunctions:
	default:
		return mtlOptions{}, fmt.Errorf("math functions %d: it must be 0 or 1", o.MathFunctions)
	}
	m := d.a.newOptions()
	err := d.fill(m, o, language)
	if err != nil {
		m.release()
		return mtlOptions{}, err
	}
	return m, nil
}

func (d *Device) fill(m mtlOptions, o metalshim.CompileOptions, language uint64) error {
	m.setLanguageVersion(language)
	if got := m.languageVersion(); got != language {
		return fmt.Errorf("language version %d.%d: the system took %d.%d", language>>16, language&0xffff, got>>16, got&0xffff)
	}
	if m.hasMathMode() {
		m.setMathMode(int64(o.MathMode))
		m.setMathFloatingPointFunctions(int64(o.MathFunctions))
		if got := m.mathMode(); got != int64(o.MathMode) {
			return fmt.Errorf("math mode %d: the system took %d", o.MathMode, got)
		}
	} else {
		// Fast math means fast functions too.
		fast := o.MathMode != metalshim.MathSafe && o.MathFunctions == metalshim.FastFunctions
		m.setFastMathEnabled(fast)
		if got := m.fastMathEnabled(); got != fast {
			return fmt.Errorf("fast math %t: the system took %t", fast, got)
		}
	}
	if len(o.Macros) == 0 {
		return nil
	}
	dict, err := d.a.NewDictionary(o.Macros)
	if err != nil {
		return fmt.Errorf("preprocessor macros: %w", err)
	}
	defer d.a.Release(dict)
	m.setPreprocessorMacros(dict)
	return nil
}
