package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"sync"

	"github.com/urfave/cli/v2"
)

const profileName = "profile-self"

// profileFlag is of all commands: what is slow may be any of them.
func profileFlag() cli.Flag {
	return &cli.StringFlag{Name: profileName, Usage: "write where introgen's own time and memory go to cpu.pprof and heap.pprof in the folder `DIR`"}
}

// profile is what --profile-self keeps of this process; nil where it is not given.
type profile struct {
	dir  string
	cpu  *os.File
	once sync.Once
	err  error
}

// startProfile begins the profile, where one is asked for.
func startProfile(c *cli.Context) error {
	if !c.IsSet(profileName) {
		return nil
	}
	dir := c.String(profileName)
	if dir == "" {
		return usagef("--%s is empty: a folder for cpu.pprof and heap.pprof is wanted", profileName)
	}
	cpu, err := beginCPU(dir)
	if err != nil {
		return fmt.Errorf("--%s: %w", profileName, err)
	}
	sessionOf(c).profile = &profile{dir: dir, cpu: cpu}
	return nil
}

func beginCPU(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(dir, "cpu.pprof"))
	if err != nil {
		return nil, err
	}
	return f, pprof.StartCPUProfile(f)
}

// end writes the profile, and says where it is. Whoever comes second waits for it.
func (p *profile) end(say func(text string)) error {
	if p == nil {
		return nil
	}
	p.once.Do(func() {
		pprof.StopCPUProfile()
		err := p.cpu.Close()
		heap, bad := os.Create(filepath.Join(p.dir, "heap.pprof"))
		if bad == nil {
			runtime.GC() // what is in the heap profile is as of the last collection
			bad = errors.Join(pprof.WriteHeapProfile(heap), heap.Close())
		}
		if p.err = errors.Join(err, bad); p.err != nil {
			p.err = fmt.Errorf("--%s: %w", profileName, p.err)
			return
		}
		say(fmt.Sprintf("%s and heap.pprof beside it hold the profile: `go tool pprof -top FILE` prints it", p.cpu.Name()))
	})
	return p.err
}
