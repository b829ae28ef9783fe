package recording

import (
	"strconv"
	"strings"
)

// Recordings that were made before there were codes have the sentences alone.
// What of them follows from other facts of the recording is taken from there.
// The figures of a taint stand nowhere else, and neither does what the CPU engine
// chose to do with the weights: these two sentences are read here, in the form
// that they had, and nowhere else.
func (r *Run) addCodes() {
	if x := r.Exit; x != nil {
		told := *x // the event belongs to whoever gave it
		if told.Refused != "" && told.RefusedCode == "" {
			told.RefusedCode = r.refusedCode()
		}
		if len(told.Taints) == 0 {
			for _, flag := range told.Flags {
				told.Taints = append(told.Taints, oldTaint(flag))
			}
		}
		r.Exit = &told
	}
	if s := r.Subject; s != nil && s.Weights == "" && strings.Contains(s.Engine, "weights packed") {
		told := *s
		told.Weights = WeightsPacked
		r.Subject = &told
	}
}

// refusedCode is why a run does not count, by how it ended: one that ended well,
// and so says its recording, was refused for its evidence. Of one that hung it
// is what ended it.
func (r *Run) refusedCode() string {
	switch x := r.Exit; {
	case x.Signal != "":
		return RefusedSignal
	case x.Code < 0:
		return RefusedStart
	case x.Code != 0:
		return RefusedExit
	case r.End == nil || r.End.Code != 0:
		return RefusedRecording
	}
	return RefusedEvidence
}

// oldTaint reads "load: other processes kept 0.930 of 2 cores busy": the first
// number in it is how much.
func oldTaint(flag string) Taint {
	var t Taint
	t.Code, t.Text, _ = strings.Cut(flag, ": ")
	for word := range strings.FieldsSeq(t.Text) {
		if v, err := strconv.ParseFloat(word, 64); err == nil {
			t.Value = v
			break
		}
	}
	return t
}
