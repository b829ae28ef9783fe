// Package standin is a stand-in for libobjc, Foundation and Metal.framework,
// so that the apple driver can be tested on Linux. Its C sources are compiled
// when a test wants them, into one shared object that exports Apple's symbols;
// what the messages ask for is done by a metalshim.Device, such as the soft
// driver's.
//
// It is stricter than Apple's libraries. The C prototypes of its methods are
// generated from the table of Apple's interfaces (package abi), and it ends the
// process, with one line on stderr that begins with "standin:", on an unknown
// selector, a wrong receiver, a message to nil, an argument of the wrong class
// or out of range, an over-release, a use after release, an object that is
// autoreleased without a pool, a pool that is popped on another thread, an
// encoder that is not ended, a command buffer that is committed twice or waited
// for before its commit, and a resource that is freed in flight. What has
// leaked is known at the end, by Close. And it is as unhelpful as they may be:
// a place for an error holds anything after a success, the upper bits of a
// BOOL are anything, what is autoreleased dies with its pool, and completed
// handlers are called on threads that Go has never seen.
//
// From the same sources BuildLibrary makes a library for programs, which bears
// what Apple's libraries bear; its device is in a process beside the program
// (package beside), and package sdk writes it for others to use.
//
// It works on linux/amd64 and linux/arm64. Elsewhere Build, BuildLibrary and
// Serve fail with ErrSystem.
package standin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/introgen/introgen/metalshim/apple/standin/work"
	"github.com/introgen/introgen/metalshim/soft/clibrary"
)

//go:generate go run ./gen c/prototypes.h

// Kinds of failure, for errors.Is.
var (
	ErrCompiler = clibrary.ErrCompiler
	ErrSystem   = errors.New("the stand-in for Apple's libraries is for linux/amd64 and linux/arm64")
)

// Point is where a failure can be planted.
type Point int

// Points, with what a failure makes of them.
const (
	AtDefaultDevice Point = iota // MTLCreateSystemDefaultDevice gives nil
	AtAllDevices                 // MTLCopyAllDevices gives an empty list
	AtLibrary                    // newLibrary… gives nil and the error
	AtFunction                   // newFunction… gives nil and the error
	AtPipeline                   // newComputePipelineState… gives nil and the error
	AtBuffer                     // newBuffer… gives nil
	AtQueue                      // newCommandQueue… gives nil
	AtFence                      // newFence gives nil
	AtCommit                     // the command buffer does not run; its status is error
	AtArchive                    // newBinaryArchive… gives nil and the error
	points
)

// Failure is an NSError to be. The zero Failure is an error without a text, of
// the domain and the code that are usual at its point; for AtLibrary the text is
// the compiler's log.
type Failure = work.Failure

// DeviceLost is the error of a command buffer whose device is gone
// (MTLCommandBufferErrorDeviceRemoved).
var DeviceLost = Failure{Domain: "MTLCommandBufferErrorDomain", Code: 11, Text: "Device was removed"}

// OtherSystem is the error of a binary archive that another system has written
// (MTLBinaryArchiveErrorInvalidFile).
var OtherSystem = Failure{Domain: "MTLBinaryArchiveDomain", Code: 1, Text: "Target OS is incompatible"}

// Options say what machine is shown, beside the served device's own facts, and
// what goes wrong. The zero value is an Apple7 GPU on macOS 15.1.
type Options struct {
	Name         string // of the device; "" is the served device's own
	Architecture string // MTLDevice.architecture.name; "" is the served device's own, nil if that has none
	AppleFamily  int    // the highest family: 5 for Apple5; 0 stands for 7
	Intel        bool   // Apple's families are not supported at all
	Version      [3]int64
	LowPowerMode bool
	ThermalState int64 // NSProcessInfoThermalState
	// Lacks are selectors that this system does not have, as an older one.
	Lacks []string
	// Plant is asked at each point; what it returns happens there, nil lets
	// things go on. n counts the calls at that point, from 1; name is the
	// function's at AtFunction and AtPipeline. It is called on any thread.
	Plant func(p Point, n int, name string) *Failure
}

// LeakError lists what was alive when a Server was closed.
type LeakError struct {
	Objects []string // "StandinBuffer #12, made by newBufferWithLength:options:, references: 1"
	Pools   int      // autorelease pools that were not popped
	Backing int      // objects of the served device that the stand-in still held
}

func (e *LeakError) Error() string {
	const most = 10
	shown := e.Objects
	more := ""
	if len(shown) > most {
		more = fmt.Sprintf("\n\t… %d more", len(shown)-most)
		shown = shown[:most]
	}
	text := fmt.Sprintf("stand-in: %d objects were not released, %d autorelease pools not popped", len(e.Objects), e.Pools)
	if len(shown) > 0 {
		text += ":\n\t" + strings.Join(shown, "\n\t") + more
	}
	return text
}
