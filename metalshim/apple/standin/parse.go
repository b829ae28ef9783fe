package standin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// BuildPath, in the place of a path, stands for the one that Build returns.
const BuildPath = "build"

const usage = "want the path of a stand-in, or build, then any of family=N, intel, macos=MAJOR.MINOR, and POINT=N or POINT=N+ for a failure of the Nth call or of all from the Nth on; a POINT is device, library, function, pipeline, buffer, queue, fence, commit, lost or archive; all separated by commas, such as build,family=5"

// words are the points as Parse takes them, with the failure that is planted.
var words = map[string]struct {
	at      []Point
	failure Failure
}{
	"device":   {[]Point{AtDefaultDevice, AtAllDevices}, Failure{}},
	"library":  {[]Point{AtLibrary}, Failure{Domain: "MTLLibraryErrorDomain", Code: 3, Text: "Compilation failed: \n\nprogram_source:7:3: error: unknown type name 'flot'; did you mean 'float'?\n"}},
	"function": {[]Point{AtFunction}, Failure{Domain: "MTLLibraryErrorDomain", Code: 5, Text: "Function was not found in the library"}},
	"pipeline": {[]Point{AtPipeline}, Failure{Domain: "AGXMetalG13X", Code: 3, Text: "Compute function exceeds available temporary registers"}},
	"buffer":   {[]Point{AtBuffer}, Failure{}},
	"queue":    {[]Point{AtQueue}, Failure{}},
	"fence":    {[]Point{AtFence}, Failure{}},
	"commit":   {[]Point{AtCommit}, Failure{Domain: "MTLCommandBufferErrorDomain", Code: 1, Text: "Internal Error (00000e:Internal Error)"}},
	"lost":     {[]Point{AtCommit}, DeviceLost},
	"archive":  {[]Point{AtArchive}, OtherSystem},
}

// rule is one planted failure.
type rule struct {
	at       []Point
	failure  Failure
	n        int
	andAfter bool
}

// Parse reads, from one text such as an environment variable's value, the path
// of a stand-in and what it shows and plants, so that whole programs can be
// tested: "build", "/tmp/standin.so,family=5", "build,commit=3".
func Parse(text string) (path string, o Options, err error) {
	parts := strings.Split(text, ",")
	if path = parts[0]; path == "" {
		return "", o, fmt.Errorf("stand-in %q: %s", text, usage)
	}
	var rules []rule
	for _, part := range parts[1:] {
		if err := o.parse(part, &rules); err != nil {
			return "", Options{}, fmt.Errorf("stand-in %q: %w; %s", text, err, usage)
		}
	}
	if len(rules) > 0 {
		o.Plant = func(p Point, n int, _ string) *Failure {
			for _, r := range rules {
				if slices.Contains(r.at, p) && (n == r.n || r.andAfter && n > r.n) {
					return &r.failure
				}
			}
			return nil
		}
	}
	return path, o, nil
}

func (o *Options) parse(part string, rules *[]rule) error {
	key, value, given := strings.Cut(part, "=")
	if key == "intel" && !given {
		o.Intel = true
		return nil
	}
	word, known := words[key]
	switch {
	case key == "family":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > 10 {
			return fmt.Errorf("family=%q: Apple's families are 1 to 10", value)
		}
		o.AppleFamily = n
	case key == "macos":
		major, minor, _ := strings.Cut(value, ".")
		a, err1 := strconv.ParseUint(major, 10, 8)
		b, err2 := strconv.ParseUint(minor, 10, 8)
		if err1 != nil || err2 != nil {
			return fmt.Errorf("macos=%q is no version such as 14.6", value)
		}
		o.Version = [3]int64{int64(a), int64(b), 0}
		o.Lacks = lackingIn(a, b)
	case known:
		number, andAfter := strings.CutSuffix(value, "+")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return fmt.Errorf("%s=%q: a call's number, from 1, is wanted", key, value)
		}
		*rules = append(*rules, rule{word.at, word.failure, n, andAfter})
	default:
		return fmt.Errorf("unknown part %q", part)
	}
	return nil
}

// lackingIn is what a macOS does not have yet, of what the stand-in has
// (Apple's headers, API_AVAILABLE).
func lackingIn(major, minor uint64) []string {
	var out []string
	if major < 15 {
		out = append(out, "setMathMode:", "mathMode", "setMathFloatingPointFunctions:", "newResidencySetWithDescriptor:error:",
			"addResidencySet:", "removeResidencySet:", "useResidencySet:")
	}
	if major < 14 {
		out = append(out, "architecture")
	}
	if major < 13 || major == 13 && minor < 3 {
		out = append(out, "shouldMaximizeConcurrentCompilation", "setShouldMaximizeConcurrentCompilation:", "maximumConcurrentCompilationTaskCount")
	}
	return out
}
