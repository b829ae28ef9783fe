package results

// The names of the spans that a run is made of. A round's N is its number from
// 1, a prefill's the tokens of the prompt, a decode step's its number from 1.
const (
	SpanRound     = "round"
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

// SamplePause names the samples by which a run says that it pauses before the
// next decode step because it was told to, and how long: nanoseconds.
const SamplePause = "pause"
