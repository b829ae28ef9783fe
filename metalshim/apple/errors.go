package apple

import (
	"errors"
	"fmt"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/objc"
)

// commandsDomain is MTLCommandBufferErrorDomain (Apple, MTLCommandBuffer.h).
const commandsDomain = "MTLCommandBufferErrorDomain"

// commandFailures are the codes of MTLCommandBufferError that have a kind of
// their own.
var commandFailures = map[int64]error{
	2:  metalshim.ErrTimeout,
	3:  metalshim.ErrPageFault,
	4:  metalshim.ErrDeviceLost, // access revoked: too many faults
	8:  metalshim.ErrOutOfMemory,
	11: metalshim.ErrDeviceLost, // device removed
}

// commandError is the error of a command buffer whose status is error.
func commandError(e *objc.Error) *metalshim.CommandError {
	if e == nil {
		return &metalshim.CommandError{Reason: "its status is error, and the system gave no reason"}
	}
	out := &metalshim.CommandError{Reason: e.Error(), Err: e}
	if kind, ok := commandFailures[e.Code]; ok && e.Domain == commandsDomain {
		out.Reason = fmt.Sprintf("%v (%v)", kind, e)
		out.Err = errors.Join(kind, e)
	}
	return out
}

// diagnostics reads the compiler's log. Metal calls the text program_source,
// because it comes from memory; file is its real name.
func diagnostics(log, file string) []metalshim.Diagnostic {
	out := metalshim.Diagnostics(log)
	for i := range out {
		if out[i].File == "program_source" {
			out[i].File = file
		}
	}
	return out
}

// compileError is what the system says about a library or, with a function,
// about a pipeline.
func compileError(library, function, file string, err error) error {
	var e *objc.Error
	if !errors.As(err, &e) {
		return &metalshim.CompileError{Library: library, Function: function, Err: err}
	}
	if e.Domain == "" {
		return &metalshim.CompileError{Library: library, Function: function, Err: e}
	}
	return &metalshim.CompileError{Library: library, Function: function, Log: e.Error(), Diagnostics: diagnostics(e.Text, file)}
}
