package plan

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/introgen/introgen/metalshim/soft/cache"
	"github.com/introgen/introgen/results/shellwords"
	"github.com/introgen/introgen/results/store"
	"github.com/introgen/introgen/system/machine"
)

// Scratch stands in an arm's command lines for a folder of the run's own.
const Scratch = "{scratch}"

// surroundings are what a run finds.
type surroundings struct {
	env     []string
	prepare []string // the environment of the runs that prepare it
	scratch string   // "" where no command line asks for it
	folders []string // its own, which remove takes away
}

func (s *surroundings) remove() (err error) {
	for _, folder := range s.folders {
		err = errors.Join(err, os.RemoveAll(folder))
	}
	return err
}

// args are a command line with the run's own folder in it.
func (s *surroundings) args(line []string) []string {
	out := slices.Clone(line)
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], Scratch, s.scratch)
	}
	return out
}

// environment is that of a run: ours, the arm's, and folders where the arm wants its
// own.
func (p *Processes) environment(c Child) (*surroundings, error) {
	s := &surroundings{env: os.Environ()}
	if err := p.surround(s, c); err != nil {
		return nil, errors.Join(err, s.remove())
	}
	return s, nil
}

func (p *Processes) surround(s *surroundings, c Child) (err error) {
	for _, k := range slices.Sorted(maps.Keys(c.Arm.Env)) {
		s.env = append(s.env, k+"="+c.Arm.Env[k])
	}
	s.env = append(s.env, store.KeepEnv+"=0") // the plan's recording holds its runs
	lines := append(slices.Clone(c.Arm.Prepare), c.Arm.Args)
	if slices.ContainsFunc(slices.Concat(lines...), func(word string) bool { return strings.Contains(word, Scratch) }) {
		if s.scratch, err = s.folder(p.folder, "own-"); err != nil {
			return err
		}
	}
	s.prepare = s.env
	if c.Arm.Cache == "" {
		return nil
	}
	if c.Fill {
		folder, err := os.MkdirTemp(p.folder, "cache-")
		if err != nil {
			return err
		}
		p.filled[fillKey(c.Arm)] = folder
		s.env = append(s.env, cache.Env+"="+folder)
		return nil
	}
	folder, err := s.folder(p.folder, "cache-")
	if err != nil {
		return err
	}
	prepared := folder
	if c.Arm.Cache != CachePrepared && len(c.Arm.Prepare) > 0 {
		if prepared, err = s.folder(p.folder, "cache-"); err != nil {
			return err
		}
	}
	if c.Arm.Cache == CacheHalf {
		if err := copyHalf(folder, p.filled[fillKey(c.Arm)]); err != nil {
			return err
		}
	}
	s.prepare = append(slices.Clip(s.env), cache.Env+"="+prepared)
	s.env = append(slices.Clip(s.env), cache.Env+"="+folder)
	return nil
}

// folder makes one that goes with the run.
func (s *surroundings) folder(parent, name string) (string, error) {
	folder, err := os.MkdirTemp(parent, name)
	if err == nil {
		s.folders = append(s.folders, folder)
	}
	return folder, err
}

// prepared makes the runs that prepare a run, one after the other, and says how long
// each took. None of them may fail.
func (p *Processes) prepared(ctx context.Context, c Child, own *surroundings) ([]int64, error) {
	var took []int64
	for _, line := range c.Arm.Prepare {
		if err := ctx.Err(); err != nil {
			return took, err
		}
		ns, err := p.prepareBy(ctx, c, own, line)
		if err != nil {
			return took, fmt.Errorf("its preparation by `introgen %s` %w", shellwords.Join(line), err)
		}
		took = append(took, ns)
	}
	return took, nil
}

func (p *Processes) prepareBy(ctx context.Context, c Child, own *surroundings, line []string) (int64, error) {
	said, err := os.Create(filepath.Join(p.folder, "stderr"))
	if err != nil {
		return 0, err
	}
	defer said.Close()
	cmd := exec.Command(p.Path)
	cmd.Args = append([]string{p.Name}, own.args(line)...)
	cmd.Env, cmd.Stderr = own.prepare, said
	cmd.SysProcAttr = endWithParent()
	runtime.LockOSThread() // as in run
	defer runtime.UnlockOSThread()
	began, ended := machine.Clock(), int64(0)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	hung := p.wait(ctx, cmd, c.Timeout, &ended)
	signal, _ := ending(cmd.ProcessState)
	why := failure(Outcome{Hung: hung, Signal: signal, Code: cmd.ProcessState.ExitCode(), Error: endOf(said)}, c.Timeout)
	if why.code != "" {
		return 0, errors.New(why.text)
	}
	return ended - began, nil
}
