package explain

import (
	"fmt"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/results/metrics"
	"github.com/introgen/introgen/results/stats"
)

var smallReads = Rule{
	Name: "small reads", Sure: Certain,
	Advice: "read it through a map or a buffer: --io mmap or --io buffered",
	Find: func(c *Case) (Facts, time.Duration) {
		read := c.over(metrics.Read.Of)
		if c.knob("io") != "file" || read < float64(5*time.Millisecond) {
			return nil, 0
		}
		return SmallReads{Read: time.Duration(read)}, time.Duration(read)
	},
}

// SmallReads: the model file's header is read with a system call for each value.
type SmallReads struct{ Read time.Duration }

func (f SmallReads) Text() string {
	return fmt.Sprintf("the model file is read value by value (--io file), a system call for each: %s ms until its directory is known", ms(f.Read))
}

var slowRead = Rule{
	Name: "slow read", Sure: Likely,
	Advice: "read the file once before it matters, keep it on a local disk, and see the line `read gguf` of `introgen bill`",
	Find: func(c *Case) (Facts, time.Duration) {
		read, io := c.over(metrics.Read.Of), c.knob("io")
		if io == "" || io == "file" || read < float64(50*time.Millisecond) {
			return nil, 0
		}
		return SlowRead{Read: time.Duration(read), IO: io}, time.Duration(read)
	},
}

// SlowRead: reading the model file's header takes long.
type SlowRead struct {
	Read time.Duration
	IO   string
}

func (f SlowRead) Text() string {
	return fmt.Sprintf("reading the model file's header takes %s ms, though it is read by %s and needs a few: the file was not in memory, or lies on something slow", ms(f.Read), f.IO)
}

var pageFaults = Rule{
	Name: "page faults", Sure: Likely,
	OfPrograms: "bring the files that the program maps into memory before it matters: read them once",
	Advice:     "bring the file into memory before (read it once), or call it what it is and measure the state cold-file with --evict",
	Find: func(c *Case) (Facts, time.Duration) {
		var faults []float64
		for _, x := range c.Arm.Samples {
			if e := x.Run.End; e != nil && e.MajorFaults >= 0 {
				faults = append(faults, float64(e.MajorFaults))
			}
		}
		const many = 100 // a page fault that waits for a disk takes 0.1 ms and more
		n := stats.Median(faults)
		if n < many {
			return nil, 0
		}
		part, _, known := c.residentBefore()
		return PageFaults{Faults: int(n), Resident: part, Known: known, Program: c.program()}, c.firstPays()
	},
}

// PageFaults: many page faults waited for the disk.
type PageFaults struct {
	Faults   int
	Resident float64 // the part of the model that was in memory before round 1,
	Known    bool    // where that is recorded
	Program  bool    // that was recorded, of whose files nothing is known
}

func (f PageFaults) Text() string {
	if f.Program {
		return fmt.Sprintf("%d page faults of a run waited for the disk", f.Faults)
	}
	part := "an unknown part"
	if f.Known {
		part = figures.Percent(f.Resident)
	}
	return fmt.Sprintf("%d page faults of a run waited for the disk, and %s of the model lay in memory before round 1", f.Faults, part)
}

var notInMemory = Rule{
	Name: "file not in memory", Sure: Likely,
	Advice: "read the file once before it matters, or call it what it is and measure the state cold-file with --evict",
	Find: func(c *Case) (Facts, time.Duration) {
		part, _, known := c.residentBefore()
		const most = 0.9
		if len(c.Arm.Samples) == 0 || !known || part >= most || pageFaults.holds(c) {
			return nil, 0 // told with what it cost
		}
		return NotInMemory{Resident: part}, c.firstPays()
	},
}

// NotInMemory: a part of the model was not in memory.
type NotInMemory struct{ Resident float64 }

func (f NotInMemory) Text() string {
	return fmt.Sprintf("%s of the model lay in memory before round 1: what needs the rest first, build and prefill, waits for the disk", figures.Percent(f.Resident))
}

var stayedInMemory = Rule{
	Name: "evicted, and still in memory", Sure: Certain,
	Advice: "end what else maps or reads the file; a file system that is memory itself (tmpfs), or that of a container, may never drop it",
	Find: func(c *Case) (Facts, time.Duration) {
		part, evicted, known := c.residentBefore()
		const much = 0.5
		if !known || !evicted || part < much {
			return nil, 0
		}
		return StayedInMemory{Resident: part}, 0
	},
}

// StayedInMemory: the model was to be dropped from memory, and was not.
type StayedInMemory struct{ Resident float64 }

func (f StayedInMemory) Text() string {
	return fmt.Sprintf("--evict asked the system to drop the model from memory, and %s of it lay there before round 1 all the same: these are not times of a cold file", figures.Percent(f.Resident))
}
