package recording

// The names of what the Metal decorator records, as package metalshim has them.
// They are told again here because a reader of recordings needs no driver; a
// test of the command holds the two together.
const (
	SpanLibrary  = "LIB"
	SpanPipeline = "PIPE"
	SpanCommands = "encode" // an encoder is open
	SpanCommit   = "commit"
	SpanWait     = "wait"
	SpanGPU      = "gpu"     // the device ran a command buffer, by its own clock
	SpanQueued   = "queued"  // from commit to the start on the device, by its clock
	SpanWeights  = "weights" // a tensor is brought to the device

	CountDispatches     = "metal dispatches"
	CountEncoders       = "metal encoders"
	CountCommandBuffers = "metal command buffers"
	CountAllocated      = "metal buffer bytes"
	CountMapped         = "metal no-copy bytes"
)

// Blit is how the copies are called among the kernels; they are no dispatches.
const Blit = "blit"

// The names of the spans that a run is made of. A round's N is its number from
// 1, a prefill's the tokens of the prompt, a decode step's its number from 1.
const (
	SpanRound     = "round"
	SpanArguments = "arguments"     // before the first round: what is to be run
	SpanRecord    = "recording"     // the instrument itself: writing the recording, printing, reading the machine's state
	SpanDigest    = "model digest"  // after the last round, where it is not known yet
	SpanEvict     = "evict"         // the model is dropped from the page cache
	SpanTokenizer = "tokenizer"     // once a run: ready to encode
	SpanDevice    = "device"        // once a run: a Metal device that can compile
	SpanRead      = "read gguf"     // opening the file until its directory is known
	SpanBuild     = "build model"   // from there until the model can run
	SpanEncode    = "encode prompt" // text to ids
	SpanPrefill   = "prefill"       // the prompt, until its next token is known
	SpanStep      = "decode step"   // one token, until its next one is known
	SpanClose     = "close"         // giving the file back
	SpanCheck     = "check"         // a look at the logits after the last step, whether they are finite
)

// SpanPause is a pause between two passes that a run was told to make; N is how
// long it was to be in nanoseconds.
const SpanPause = "pause"

// known are the names that something of introgen gives. Others may come from a
// later introgen, and from a damaged file.
var known = map[string]bool{
	SpanLibrary: true, SpanPipeline: true, SpanCommands: true, SpanCommit: true, SpanWait: true, SpanGPU: true, SpanQueued: true, SpanWeights: true,
	SpanRound: true, SpanArguments: true, SpanRecord: true, SpanDigest: true, SpanEvict: true, SpanTokenizer: true, SpanDevice: true, SpanRead: true,
	SpanBuild: true, SpanEncode: true, SpanPrefill: true, SpanStep: true, SpanClose: true, SpanCheck: true, SpanPause: true,
	CountDispatches: true, CountEncoders: true, CountCommandBuffers: true, CountAllocated: true, CountMapped: true,
}

// follows are the spans that follow one another, at the top or in a round.
var follows = map[string]bool{
	SpanRound: true, SpanArguments: true, SpanRecord: true, SpanDigest: true, SpanEvict: true, SpanTokenizer: true, SpanDevice: true, SpanRead: true,
	SpanBuild: true, SpanEncode: true, SpanPrefill: true, SpanStep: true, SpanClose: true, SpanCheck: true, SpanPause: true,
}

// ofDevice says whether a span was timed by the device's clock, beside all that
// the CPU did.
func ofDevice(name string) bool { return name == SpanGPU || name == SpanQueued }
