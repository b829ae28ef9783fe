// Package names has the names of what a run records: of its spans, its counters,
// and the states of the cache of compiled code. Whoever records and whoever reads
// a recording has them from here. They are part of the recording's format
// (docs/recording.md), so that a name stays what it is.
package names

import (
	"fmt"
	"slices"
)

// The spans that a run is made of.
const (
	SpanArguments    = "arguments"     // before the first round: what is to be run
	SpanTokenizer    = "tokenizer"     // once a run: ready to encode
	SpanDevice       = "device"        // once a run: a Metal device that can compile
	SpanWarmUp       = "warm-up"       // once a run that was given a plan: all of it is compiled before the first round; Detail: the plan's file; N: how many ns that took where the plan was recorded, 0 where nobody knows
	SpanEvict        = "evict"         // the model is dropped from the page cache
	SpanRound        = "round"         // a generation; N: its number from 1
	SpanRead         = "read gguf"     // opening the file until its directory is known
	SpanBuild        = "build model"   // from there until the model can run
	SpanEncodePrompt = "encode prompt" // text to ids
	SpanPrefill      = "prefill"       // the prompt, until its next token is known; N: its tokens
	SpanStep         = "decode step"   // one token, until its next one is known; N: its number from 1
	SpanPause        = "pause"         // between two passes, where a run was told to make one; N: how long it was to be in nanoseconds
	SpanPhase        = "phase"         // of a program that was recorded; Detail: what it is called, N: its number from 1
	SpanRepeat       = "step"          // what a recorded program does again and again, cut by its command buffers; N: its number from 1
	SpanCheck        = "check"         // a look at the logits after the last step, whether they are finite
	SpanClose        = "close"         // giving the file back
	SpanRecord       = "recording"     // the instrument itself: writing the recording, printing, reading the machine's state
	SpanDigest       = "model digest"  // after the last round, where it is not known yet
	SpanArchive      = "archive"       // an archive of compiled code; Detail: "open" before the first round, "write" after the last
	SpanLimits       = "limits"        // after the last round of a traced run: how fast memory is read and floats are computed
)

// The spans of what a phase does on a Metal device.
const (
	SpanLibrary  = "LIB"     // source → library; Detail: the library, N: source bytes
	SpanPipeline = "PIPE"    // library + function + constants → pipeline; Detail: "library function", N: constants
	SpanAwait    = "await"   // the CPU waits for a library or a pipeline that is made beside it, on another track; Detail: "library function"
	SpanWeights  = "weights" // a tensor is brought to the device; Detail: its name, N: bytes
	SpanEncoder  = "encode"  // an encoder, from opening to end; Detail: "compute" or "blit"
	SpanCommit   = "commit"  // N: dispatches in the command buffer
	SpanWait     = "wait"    // the CPU waits for a command buffer; Detail: one of the Wait constants, or "" of an engine of introgen
	SpanQueued   = "queued"  // from commit to the start on the device, by its clock
	SpanGPU      = "gpu"     // the device ran a command buffer, by its own clock; N: dispatches
)

// What a recorded program waited for: the Detail of a span "wait".
const (
	WaitCompleted   = "completed"    // waitUntilCompleted
	WaitScheduled   = "scheduled"    // waitUntilScheduled
	WaitSharedEvent = "shared event" // a value that the device signals
	WaitSemaphore   = "semaphore"    // a handler signals it
	WaitQueue       = "queue"        // room for one more command buffer
)

// The counters of a Metal device.
const (
	CountDispatches     = "metal dispatches"      // of one command buffer, at its commit
	CountEncoders       = "metal encoders"        // of one command buffer, at its commit
	CountCommandBuffers = "metal command buffers" // 1 at each commit
	CountBarriers       = "metal barriers"        // memory barriers of one command buffer, at its commit; of recorded programs alone
	CountAllocated      = "metal buffer bytes"    // length of one new buffer, whose memory is the device's
	CountMapped         = "metal no-copy bytes"   // length of one new buffer of memory that was there
)

// The counters of a run that are read between two passes: what there is then.
const (
	CountResident = "resident bytes" // of the process's memory
	CountCache    = "kv cache bytes" // the keys and values of the positions that have passed
)

// Blit is how the copies are called among the kernels; they are no dispatches.
const Blit = "blit"

// Where a library or a pipeline came from. CacheUnknown is what Apple's driver has
// to say, CacheOff a driver without a cache or one that could not use it;
// CacheArchive is of one that was taken from an archive which the run asked for.
const (
	CacheUnknown = ""
	CacheHit     = "hit"
	CacheArchive = "archive"
	CacheMiss    = "miss"
	CacheOff     = "off"
)

// known are all names of spans and counters.
var known = map[string]bool{
	SpanArguments: true, SpanTokenizer: true, SpanDevice: true, SpanWarmUp: true, SpanEvict: true, SpanRound: true, SpanRead: true, SpanBuild: true,
	SpanEncodePrompt: true, SpanPrefill: true, SpanStep: true, SpanPause: true, SpanPhase: true, SpanRepeat: true, SpanCheck: true, SpanClose: true, SpanRecord: true, SpanDigest: true, SpanLimits: true,
	SpanLibrary: true, SpanPipeline: true, SpanAwait: true, SpanArchive: true, SpanWeights: true, SpanEncoder: true, SpanCommit: true, SpanWait: true, SpanQueued: true, SpanGPU: true,
	CountDispatches: true, CountEncoders: true, CountCommandBuffers: true, CountBarriers: true, CountAllocated: true, CountMapped: true, CountResident: true, CountCache: true,
}

// Known says whether something of introgen gives a span or a counter the name.
// Others may come from a later introgen, and from a damaged file.
func Known(name string) bool { return known[name] }

// Title is how a span is called beside others of its name: "decode step 3".
func Title(name string, n int64) string {
	if IsStep(name) {
		return fmt.Sprintf("%s %d", name, n)
	}
	return name
}

// IsStep says whether spans of the name are numbered, each as long as the next
// where nothing is compiled.
func IsStep(name string) bool { return name == SpanStep || name == SpanRepeat }

// OfDevice says whether a span was timed by the device's clock, beside all that
// the CPU did.
func OfDevice(name string) bool { return name == SpanGPU || name == SpanQueued }

// IsCacheState says whether something of introgen tells this of a library or a
// pipeline.
func IsCacheState(state string) bool {
	return slices.Contains([]string{CacheUnknown, CacheHit, CacheArchive, CacheMiss, CacheOff}, state)
}

// IsTaken says whether a library or a pipeline of that state was there already, and
// not compiled.
func IsTaken(state string) bool { return state == CacheHit || state == CacheArchive }
