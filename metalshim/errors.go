package metalshim

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Diagnostic is one message of a compiler, with its place in the MSL source.
type Diagnostic struct {
	File         string // as given in Source.File, else the library's name
	Line, Column int    // from 1; 0 if unknown
	Severity     string // "error", "warning", "note"
	Message      string
}

func (d Diagnostic) String() string {
	return fmt.Sprintf("%s:%d:%d: %s: %s", d.File, d.Line, d.Column, d.Severity, d.Message)
}

var diagnosticLine = regexp.MustCompile(`^(.+?):(\d+):(\d+): (fatal error|error|warning|note): (.*)$`)

// Diagnostics reads what clang, or Metal's compiler, which is made of it, has
// written. Lines that are no messages, such as the excerpts of the source, are left
// out; a fatal error is an error.
func Diagnostics(log string) []Diagnostic {
	var out []Diagnostic
	for line := range strings.Lines(log) {
		m := diagnosticLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		row, err1 := strconv.Atoi(m[2])
		col, err2 := strconv.Atoi(m[3])
		if err1 != nil || err2 != nil {
			continue
		}
		out = append(out, Diagnostic{m[1], row, col, strings.TrimPrefix(m[4], "fatal "), m[5]})
	}
	return out
}

// CompileError says that a library or a pipeline could not be compiled.
type CompileError struct {
	Library     string
	Function    string       // "" if the library itself failed
	Diagnostics []Diagnostic // in the compiler's order
	Log         string       // the compiler's whole output, where it says more
	Err         error        // why no compiler's verdict was got (time limit, killed), or nil
}

func (e *CompileError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "metal library %s", e.Library)
	if e.Function != "" {
		fmt.Fprintf(&b, ", function %s", e.Function)
	}
	b.WriteString(" does not compile")
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	const most = 10
	for i, d := range e.Diagnostics {
		if i == most {
			fmt.Fprintf(&b, "\n\t… %d more", len(e.Diagnostics)-most)
			break
		}
		fmt.Fprintf(&b, "\n\t%s", d)
	}
	if len(e.Diagnostics) == 0 && e.Err == nil && e.Log != "" {
		fmt.Fprintf(&b, ":\n\t%s", strings.ReplaceAll(strings.TrimSpace(e.Log), "\n", "\n\t"))
	}
	return b.String()
}

// Unwrap returns the cause, if there is one.
func (e *CompileError) Unwrap() error { return e.Err }

// FunctionError says that a library has no kernel of the wanted name, or that
// the constants given for it are wrong.
type FunctionError struct {
	Library, Function string
	Names             []string // the kernels it has
	Reason            string   // "" means absent
}

func (e *FunctionError) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("metal library %s, function %s: %s", e.Library, e.Function, e.Reason)
	}
	near := ""
	if len(e.Names) > 0 {
		names := e.Names
		if len(names) > 8 {
			names = names[:8]
		}
		near = "; it has " + strings.Join(names, ", ")
		if n := len(e.Names) - len(names); n > 0 {
			near += fmt.Sprintf(" and %d more", n)
		}
	}
	return fmt.Sprintf("metal library %s has no function %q%s", e.Library, e.Function, near)
}

// AllocationError says that a buffer could not be made.
type AllocationError struct {
	Length int64
	Limit  int64 // what the device allows, 0 if that is not the reason
	Err    error // why, or nil
}

func (e *AllocationError) Error() string {
	switch {
	case e.Length < 1:
		return fmt.Sprintf("metal buffer of %d bytes: it must have at least 1", e.Length)
	case e.Limit > 0 && e.Length > e.Limit:
		return fmt.Sprintf("metal buffer of %d bytes: the device allows %d", e.Length, e.Limit)
	case e.Limit > 0:
		return fmt.Sprintf("metal buffer of %d bytes: all buffers together would exceed the memory limit of %d bytes", e.Length, e.Limit)
	case e.Err != nil:
		return fmt.Sprintf("metal buffer of %d bytes: %v", e.Length, e.Err)
	}
	return fmt.Sprintf("metal buffer of %d bytes: out of memory", e.Length)
}

// Unwrap returns the cause, if there is one.
func (e *AllocationError) Unwrap() error { return e.Err }

// EncodeError says that a command was encoded wrongly; nothing was run.
type EncodeError struct {
	Kernel string // "" outside a dispatch
	Reason string
}

func (e *EncodeError) Error() string {
	if e.Kernel == "" {
		return "metal encoder: " + e.Reason
	}
	return "metal dispatch of " + e.Kernel + ": " + e.Reason
}

// CommandError is why a command buffer failed.
type CommandError struct {
	Kernel  string // the kernel that ran, or ""
	Library string // whose it is, or ""
	// Dispatch is which of the command buffer's Dispatches it was, from 1; 0 where
	// that is not known.
	Dispatch, Dispatches int
	Reason               string
	Err                  error // one of ErrTimeout, ErrPageFault, …, or nil
}

// Place says where it ran: "kernel affine_f32 of library Affine, dispatch 7 of
// 50 of its command buffer", as far as that is known.
func (e *CommandError) Place() string {
	if e.Kernel == "" {
		return "a copy between buffers"
	}
	s := "kernel " + e.Kernel
	if e.Library != "" {
		s += " of library " + e.Library
	}
	if e.Dispatch > 0 {
		s += fmt.Sprintf(", dispatch %d of %d of its command buffer", e.Dispatch, e.Dispatches)
	}
	return s
}

func (e *CommandError) Error() string {
	s := "metal command buffer failed"
	if e.Kernel != "" {
		s += " in " + e.Place()
	}
	switch {
	case e.Reason != "":
		s += ": " + e.Reason
	case e.Err != nil:
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the kind of failure.
func (e *CommandError) Unwrap() error { return e.Err }

// Kinds of failure of a command buffer and of a device, for errors.Is.
var (
	ErrTimeout   = errors.New("the kernel ran longer than the device's time limit")
	ErrPageFault = errors.New("the kernel accessed memory outside of its buffers")
	ErrReleased  = errors.New("the object was already released")
	ErrNoDevice  = errors.New("no metal device")
	// ErrDeviceLost means that the device is gone or refuses this process.
	ErrDeviceLost = errors.New("the device was lost")
	// ErrOutOfMemory means that the device had no memory for the work.
	ErrOutOfMemory = errors.New("the device ran out of memory")
)
