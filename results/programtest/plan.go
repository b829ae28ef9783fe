package programtest

import (
	"bytes"

	"github.com/introgen/introgen/results/recording"
)

// Plan is the recording of a plan over programs: of so many blocks, each with a run
// of every arm, which of gives, a second after the other.
func Plan(command string, factors []string, blocks int, arms []recording.Arm, of func(arm, block int) *Recording) *recording.File {
	r := &Recording{Events: []recording.Event{
		&recording.Header{Format: recording.Format, Version: recording.Version, Command: command, Args: []string{command}, Clock: 1, Host: recording.Host{OS: "linux", Arch: "amd64", Cores: 2}, Knobs: []recording.Knob{}},
		&recording.Plan{Arms: arms, Blocks: blocks, Order: "abba", Factors: factors},
	}}
	run := 0
	for block := 1; block <= blocks; block++ {
		for i, a := range arms {
			run++
			r.Events = append(r.Events, &recording.Start{Run: run, Block: block, Arm: a.Name})
			child := of(i, block)
			head := child.Events[0].(*recording.Header)
			head.Clock = int64(run) * 1e9
			head.PID = 100 + run
			if head.Program != nil {
				head.Program.PID = 1000 + run
			}
			r.Events = append(r.Events, child.Events...)
			r.Events = append(r.Events, &recording.Exit{Run: run, Spawned: int64(run)*1e9 - 5e6, Reaped: int64(run)*1e9 + 1e9})
		}
	}
	r.Events = append(r.Events, &recording.End{At: 1e12, MajorFaults: -1, MinorFaults: -1})
	f, err := recording.Read(bytes.NewReader(Bytes(r)), "made by hand")
	if err != nil {
		panic(err) // what is made here can be read
	}
	return f
}
