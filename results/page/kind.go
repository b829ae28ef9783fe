package page

import (
	"github.com/introgen/introgen/results/plot"
	"github.com/introgen/introgen/trace/names"
)

// kindOf is the kind that a span is drawn as.
func kindOf(span string) plot.Kind {
	switch span {
	case names.SpanRead:
		return plot.Read
	case names.SpanBuild:
		return plot.Build
	case names.SpanPrefill:
		return plot.Prefill
	case names.SpanStep, names.SpanRepeat:
		return plot.Decode
	case names.SpanRecord:
		return plot.Recording
	case names.SpanTokenizer, names.SpanEncodePrompt, names.SpanPhase:
		return plot.CPU
	}
	return plot.Other
}
