// Package pagetest makes recordings for the tests of pages.
package pagetest

import (
	"strings"

	"github.com/introgen/introgen/results/breakdown/breakdowntest"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/trace/names"
)

// Hostile is a recording in whose every name stands what would end an element, begin
// a script, load something, turn the direction of writing or fill a page; and the
// longest of these names.
func Hostile() (f *recording.File, huge string) {
	const evil = "</script></style></svg><script>alert(1)</script><img src=x onerror=alert(1)>\u202e\x1b[31m\x00\"'`--><!--]]>{{.}} javascript:alert(1) "
	huge = evil + strings.Repeat("A", 1<<20)
	run := breakdowntest.Metal(2, 12, 12)
	run.Header = recording.Header{Command: huge, Args: []string{huge, evil}, Host: recording.Host{Name: huge, CPU: huge, OS: evil}, Model: recording.Model{File: huge, Types: evil},
		Knobs: []recording.Knob{{Name: huge, Value: huge, Origin: evil}}, Environment: map[string]string{huge: huge}, Tool: recording.Tool{Version: evil}}
	run.Subject = &recording.Subject{IO: huge, PageCache: evil, Engine: huge, Tokenizer: evil}
	run.Device = &recording.Device{Name: huge, Driver: evil, Kernels: huge}
	for i := range run.Spans {
		if run.Spans[i].Name == names.SpanLibrary || run.Spans[i].Name == names.SpanPipeline {
			run.Spans[i].Detail = huge
		}
	}
	for i := range run.Libraries {
		run.Libraries[i].Name = huge
	}
	for i := range run.Pipelines {
		run.Pipelines[i].Library, run.Pipelines[i].Function, run.Pipelines[i].Constants = huge, huge, evil
	}
	run.Kernels = []recording.Kernel{{Name: huge, Dispatches: 3, Time: 1e6}}
	run.Notes = []recording.Note{{Text: huge}}
	run.Exit = &recording.Exit{Flags: []string{huge}}
	run.Start = &recording.Start{Run: 1, Block: 1, Arm: huge}
	f = &recording.File{Runs: []*recording.Run{run}, Warnings: []string{huge}, Broken: huge, Header: &run.Header,
		Plan: &recording.Plan{Arms: []recording.Arm{{Name: huge, Args: []string{huge}, Levels: map[string]string{huge: huge}}}, Blocks: 1, Factors: []string{huge}}}
	return f, huge
}
