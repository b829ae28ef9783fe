package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/introgen/introgen/results/live"
	"github.com/introgen/introgen/results/page"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/shellwords"
	"github.com/introgen/introgen/system/machine"
	"github.com/urfave/cli/v2"
)

// defaultWatched is where the finished page goes that nobody names.
const defaultWatched = "watch" + pageEnding

func watchCommand() *cli.Command {
	return &cli.Command{
		Name:      "watch",
		Usage:     "run a command, and follow it in a browser on this machine",
		ArgsUsage: "-- COMMAND [ARGUMENTS]",
		Description: "COMMAND is any of introgen's that makes runs, with its own arguments; what it prints, its recording\n" +
			"and its exit code are its own. While it runs, its page is served to this machine alone, under an\n" +
			"address that is told on stderr, and follows the run, at most once a second. The page is written to\n" +
			"a file when the command has ended, by Ctrl-C too.\n\n" +
			"The page is made in a process of its own, with a lower priority, and only while a browser shows it.\n" +
			"What that takes is other load to the run, as its recording says; docs/views.md has figures.\n\n" +
			"Examples:\n" +
			"   introgen watch -- metal 2 --trace --nonce\n" +
			"   introgen watch -o cold.html -- compare --states cold,warm-cache\n" +
			"   introgen watch -- record -- ./chat model.gguf",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: defaultWatched, Usage: "write the finished page to `FILE.html`"},
		},
		Action: runWatch,
	}
}

// watchedEnv names the file in which a command is to record for whoever watches it.
// It is set by watch for its command and taken out of the environment by that, so
// that neither its recording nor what it starts has it.
const watchedEnv = "INTROGEN_WATCHED"

// takeWatched is the file that the variable names; "" where nobody watches.
func takeWatched() string {
	path := os.Getenv(watchedEnv)
	_ = os.Unsetenv(watchedEnv) // it fails for names that cannot be
	return path
}

// watchable are the commands that make runs.
func watchable() []string {
	names := []string{cpuCommand().Name, metalCommand().Name, recordCommand().Name}
	for _, p := range planCommands() {
		names = append(names, p.Name)
	}
	return names
}

func runWatch(c *cli.Context) (err error) {
	args := c.Args().Slice()
	names := watchable()
	if len(args) == 0 {
		return usagef("watch wants a command to run: `introgen watch -- metal 2`; it is one of %s", strings.Join(names, ", "))
	}
	if !slices.Contains(names, args[0]) {
		return usagef("watch -- %q: a command that makes runs is wanted, one of %s", args[0], strings.Join(names, ", "))
	}
	path := c.String("output")
	if !strings.EqualFold(filepath.Ext(path), pageEnding) {
		return usagef("--output %q: the name must end in %s", path, pageEnding)
	}
	if err := apart(path, nil); err != nil {
		return err
	}
	_, missing := os.Stat(path)
	out, err := recording.OpenOutput(path, 0) // what is in it stays until there is something to take its place
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	defer func() {
		err = errors.Join(err, out.Close())
	}()
	folder, err := os.MkdirTemp("", "introgen-watch-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	w := &watched{path: filepath.Join(folder, "run"+recording.Ending), name: shellwords.Join(args)}
	server, err := live.Serve(live.Options{Path: w.path, Page: w.page})
	if err != nil {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "introgen: the page is at %s\n", server.Address())
	status, failed := w.run(c, args)
	server.Finish()
	written, err := w.finish(out)
	if !written && errors.Is(missing, fs.ErrNotExist) {
		_ = os.Remove(path) // it is empty
	}
	switch {
	case failed != nil:
		return failed
	case err != nil:
		return fmt.Errorf("--output %s: %w", path, err)
	case written:
		fmt.Fprintf(c.App.ErrWriter, "introgen: the finished page is %s\n", path)
	}
	if status != exitOK {
		return programEnded{status}
	}
	return nil
}

// watched is a command that is watched.
type watched struct {
	path string // of its recording
	name string // its words
}

// run runs the command, and returns its exit code. An error says why it did not
// begin.
func (w *watched) run(c *cli.Context, args []string) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("cannot find this program's own file, which is to be run again: %w", err)
	}
	cmd := exec.Command(self)
	cmd.Args = append([]string{os.Args[0]}, args...)
	cmd.Env = append(os.Environ(), watchedEnv+"="+w.path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, c.App.Writer, c.App.ErrWriter
	if to, ok := c.App.Writer.(*sink); ok {
		cmd.Stdout = to.w // a file is the command's own, so that nothing of it passes through here
	}
	endWithWatch(cmd)
	// The request to end the command with this process is the thread's that starts it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sessionOf(c).leaveWaiting()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	// A signal that was typed has reached the command already, which takes two at
	// once for one.
	unhook := context.AfterFunc(c.Context, func() { _ = cmd.Process.Signal(os.Interrupt) })
	defer unhook()
	if err := machine.GiveWay(); err != nil {
		sessionOf(c).note(fmt.Sprintf("the page is made with the same priority as the run: %v", err))
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal()), nil
	}
	return cmd.ProcessState.ExitCode(), nil
}

// page writes the page of what there is of the recording.
func (w *watched) page(to io.Writer, f *recording.File, events string) error {
	return page.Write(to, []page.Recording{{Name: w.name, File: f}}, page.Options{Live: events, Answer: reportOf})
}

// finish writes the finished page, and says whether there was anything to write.
func (w *watched) finish(out *os.File) (written bool, err error) {
	f, err := recording.Open(w.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(f.Runs) == 0 && f.Plan == nil {
		return false, nil // the command has said why it made no run
	}
	if err == nil {
		err = recording.Empty(out)
	}
	if err == nil {
		err = w.page(out, f, "")
	}
	return true, err
}
