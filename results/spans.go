package results

import "github.com/introgen/introgen/results/recording"

// The names of what the Metal decorator records, as the format has them.
const (
	SpanLibrary  = recording.SpanLibrary
	SpanPipeline = recording.SpanPipeline
	SpanCommands = recording.SpanCommands
	SpanCommit   = recording.SpanCommit
	SpanWait     = recording.SpanWait
	SpanGPU      = recording.SpanGPU
	SpanQueued   = recording.SpanQueued
	SpanWeights  = recording.SpanWeights

	CountDispatches     = recording.CountDispatches
	CountEncoders       = recording.CountEncoders
	CountCommandBuffers = recording.CountCommandBuffers
)

// The names of the spans that a run is made of.
const (
	SpanRound     = recording.SpanRound
	SpanArguments = recording.SpanArguments
	SpanRecord    = recording.SpanRecord
	SpanDigest    = recording.SpanDigest
	SpanEvict     = recording.SpanEvict
	SpanTokenizer = recording.SpanTokenizer
	SpanDevice    = recording.SpanDevice
	SpanRead      = recording.SpanRead
	SpanBuild     = recording.SpanBuild
	SpanEncode    = recording.SpanEncode
	SpanPrefill   = recording.SpanPrefill
	SpanStep      = recording.SpanStep
	SpanClose     = recording.SpanClose
	SpanCheck     = recording.SpanCheck
	SpanPause     = recording.SpanPause
)
