package main

import (
	"context"
	"os/signal"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/standin/beside"
	"github.com/introgen/introgen/metalshim/soft"
	"github.com/urfave/cli/v2"
)

// metalBesideCommand is what the library of `introgen sdk` starts: the device of a
// program that uses Metal. It is not for people, and hidden from them.
func metalBesideCommand() *cli.Command {
	return &cli.Command{
		Name:   "metal-device",
		Usage:  "be the Metal device of the program that started this one (the library of introgen sdk does)",
		Hidden: true,
		Flags:  []cli.Flag{&cli.IntFlag{Name: "fd", Usage: "`NUMBER` of the socket to the program"}},
		Action: runMetalBeside,
	}
}

// shownFamily is the highest of Apple's GPU families that programs are shown: one
// with all that the soft driver can do.
const shownFamily = 7

func runMetalBeside(c *cli.Context) error {
	signal.Reset(stopSignals()...)
	beside.IgnoreSignals()
	socket := c.Int("fd")
	if socket < 3 {
		return usagef("metal-device --fd %d: the number of an open socket is wanted, 3 or more", socket)
	}
	beside.Parent(socket)
	ctx := context.WithoutCancel(c.Context)
	facts := beside.Facts{AppleFamily: shownFamily}
	var device metalshim.Device
	d, err := soft.Open(ctx, soft.Options{})
	if err != nil {
		facts.Failure = oneLine(err)
	} else {
		device = d
	}
	// The device is not closed: what it holds ends with the process, at once.
	err = beside.Serve(ctx, socket, device, facts)
	if err == nil {
		beside.GiveBackStderr()
	}
	return err
}
