package plan_test

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/bench/plan"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace"
	"github.com/introgen/introgen/trace/names"
)

func TestCheck(t *testing.T) {
	cache := func(e recording.Evidence) *recording.Run {
		e.What = recording.EvidenceMetalCache
		return &recording.Run{Evidence: []recording.Evidence{e}}
	}
	file := func(e ...recording.Evidence) *recording.Run {
		for i := range e {
			e[i].What, e[i].Round = recording.EvidencePageCache, i+1
		}
		return &recording.Run{Evidence: e}
	}
	cpu := func(r recording.Run) *recording.Run { r.Header.Command = "cpu"; return &r }
	later := func(at trace.ID, how string) *recording.Run {
		return &recording.Run{
			Rounds: []recording.Round{{Number: 1}, {Number: 2}},
			Spans: []trace.Record{{ID: 1, Name: names.SpanRound, N: 1, Start: 0, End: 10}, {ID: 2, Parent: 1, Name: "LIB", Start: 3, End: 5},
				{ID: 3, Name: names.SpanRound, N: 2, Start: 20, End: 30}, {ID: 4, Parent: 3, Name: "LIB", Start: 22, End: 25}},
			Libraries: []recording.Library{{Span: at, Name: "Gemm", Cache: how}},
		}
	}
	folder := func(n int) *recording.CacheFolder { return &recording.CacheFolder{Entries: n} }
	for _, c := range []struct {
		state, cache string
		run          *recording.Run
		want         string // "" is accepted
	}{
		{"", "", &recording.Run{}, ""},
		{recording.StateCPU, "", cpu(recording.Run{}), ""},
		{recording.StateCPU, "", cpu(recording.Run{Libraries: make([]recording.Library, 1)}), "on a Metal device"},
		{recording.StateCPU, "", &recording.Run{Header: recording.Header{Command: "metal"}}, `a run of "metal"`},

		{recording.StateCold, "", cache(recording.Evidence{LibraryMisses: 10, PipelineMisses: 21, Nonce: "x"}), ""},
		{recording.StateCold, "", cache(recording.Evidence{LibraryMisses: 10, PipelineMisses: 21}), "no nonce"},
		{recording.StateCold, "", cache(recording.Evidence{LibraryMisses: 10, PipelineHits: 2, Nonce: "x", Folder: "/c", Before: folder(31)}),
			"0 libraries and 2 pipelines came from the cache (/c held 31 entries before)"},
		{recording.StateCold, "", cache(recording.Evidence{Nonce: "x"}), "no library and no pipeline was needed"},
		{recording.StateCold, "", file(recording.Evidence{}), "says nothing of a cache of compiled code"},

		{recording.StateWarmCache, "", cache(recording.Evidence{LibraryHits: 10, PipelineHits: 21}), ""},
		{recording.StateWarmCache, "", cache(recording.Evidence{LibraryHits: 7, LibraryMisses: 3, PipelineHits: 20, PipelineMisses: 1, Folder: "/c", Before: folder(27)}),
			"labelled warm-cache: 3 of 10 libraries and 1 of 21 pipelines were compiled (/c held 27 entries before)"},
		{recording.StateWarmCache, "", cache(recording.Evidence{LibraryHits: 10, Nonce: "x"}), `ended in the nonce "x"`},

		{recording.StateArchive, "", cache(recording.Evidence{Archive: &recording.Archive{File: "a", Libraries: 10, Pipelines: 21}}), ""},
		{recording.StateArchive, "", cache(recording.Evidence{Unknown: 10, Archive: &recording.Archive{File: "a", Pipelines: 21}}), ""},
		{recording.StateArchive, "", cache(recording.Evidence{PipelineMisses: 1, Archive: &recording.Archive{File: "a", Libraries: 10, Pipelines: 20}}),
			"0 libraries and 1 pipelines were compiled, since the archive did not have them"},
		{recording.StateArchive, "", cache(recording.Evidence{LibraryHits: 10, Archive: &recording.Archive{File: "a"}}), "no library and no pipeline came from an archive"},
		{recording.StateArchive, "", cache(recording.Evidence{LibraryMisses: 10}), "no library and no pipeline came from an archive"},
		{recording.StateCold, "", cache(recording.Evidence{LibraryMisses: 1, Nonce: "x", Archive: &recording.Archive{File: "a", Pipelines: 2}}),
			"it was given the archive a, which gave 0 libraries and 2 pipelines"},
		{recording.StateColdNatural, "", cache(recording.Evidence{LibraryMisses: 1, Archive: &recording.Archive{File: "a"}}), "it was given the archive a"},
		{recording.StateWarmCache, "", cache(recording.Evidence{LibraryHits: 1, Archive: &recording.Archive{File: "a"}}), "it was given the archive a"},

		// A driver that does not tell hit from miss is judged by its folder.
		{recording.StateCold, "", cache(recording.Evidence{Unknown: 31, Nonce: "x"}), ""},
		{recording.StateWarmCache, "", cache(recording.Evidence{Unknown: 31, Folder: "/c", Before: folder(9), After: folder(9)}), ""},
		{recording.StateWarmCache, "", cache(recording.Evidence{Unknown: 31, Folder: "/c", Before: folder(9), After: folder(40)}), "/c grew from 9 to 40 entries"},
		{recording.StateColdNatural, "", cache(recording.Evidence{Unknown: 31, Folder: "/c", Before: folder(0), After: folder(31)}), ""},
		{recording.StateColdNatural, "", cache(recording.Evidence{Unknown: 31, Folder: "/c", Before: folder(9), After: folder(9)}), "nothing was compiled"},

		{recording.StateColdNatural, plan.CacheEmpty, cache(recording.Evidence{LibraryMisses: 10, Before: folder(0)}), ""},
		{recording.StateColdNatural, plan.CacheEmpty, cache(recording.Evidence{LibraryMisses: 9, LibraryHits: 1, Before: folder(0)}), "was not empty: 1 libraries"},
		{recording.StateColdNatural, plan.CacheEmpty, cache(recording.Evidence{LibraryMisses: 9, Before: folder(2)}), ""},
		{recording.StateColdNatural, plan.CacheEmpty, cache(recording.Evidence{LibraryHits: 9}), "everything came from the cache"},
		{recording.StateColdNatural, plan.CacheHalf, cache(recording.Evidence{LibraryHits: 5, LibraryMisses: 5}), ""},
		{recording.StateColdNatural, plan.CacheHalf, cache(recording.Evidence{LibraryMisses: 5}), "nothing came from its half-filled cache"},

		{recording.StateColdFile, "", file(recording.Evidence{Evicted: true, Resident: 0.001}), ""},
		{recording.StateColdFile, "", file(recording.Evidence{Evicted: true}, recording.Evidence{Evicted: true, Resident: 0.4}), "40.0 % of the model still lay in the page cache before round 2"},
		{recording.StateColdFile, "", file(recording.Evidence{Evicted: true}, recording.Evidence{}), "not evicted from the page cache before round 2"},
		{recording.StateColdFile, "", file(recording.Evidence{Evicted: true, Resident: -1}), "nobody can tell"},
		{recording.StateColdFile, "", &recording.Run{}, "says nothing of the page cache"},

		{recording.StateWarmProcess, "", later(2, "miss"), ""},
		{recording.StateWarmProcess, "", later(4, "hit"), ""},
		{recording.StateWarmProcess, "", later(4, "archive"), ""},
		{recording.StateWarmProcess, "", later(4, "miss"), "1 libraries or pipelines were compiled from round 2 on"},
		{recording.StateWarmProcess, "", &recording.Run{Rounds: make([]recording.Round, 1)}, "the run has 1"},
		{"hot", "", &recording.Run{}, "no such state"},
		{recording.StateCPU, "", cpu(recording.Run{Lost: []recording.Hole{{First: 3, Last: 5}}}), "3 spans of its recording are missing"},
	} {
		err := plan.Check(c.state, recording.Arm{Cache: c.cache}, c.run)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, cache %q: %v, want %q", c.state, c.cache, err, c.want)
		}
	}
}
