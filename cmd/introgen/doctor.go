package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/introgen/introgen/cmd/introgen/doctor"
)

func doctorCommand() *cli.Command {
	return &cli.Command{
		Name:      "doctor",
		Usage:     "say what this machine and this build have, and what brings the rest",
		ArgsUsage: "[CHECK...]",
		Description: "Checks: " + strings.Join(doctor.Names(), ", ") + ".\n" +
			"Without a CHECK it looks at all and succeeds; a named one that is missing is an error.\n\n" +
			"Examples:\n" +
			"   introgen doctor\n" +
			"   introgen doctor pip cargo",
		Action: runDoctor,
	}
}

func runDoctor(c *cli.Context) error {
	named := c.Args().Slice()
	for _, name := range named {
		if !doctor.Known(name) {
			return usagef("doctor does not know %q; it looks at %s", name, strings.Join(doctor.Names(), ", "))
		}
	}
	found, err := doctor.Look(c.Context, named...)
	if err != nil {
		return err
	}
	if err := doctor.Write(c.App.Writer, found); err != nil {
		return err
	}
	var missing []string
	for _, f := range found {
		if f.State == doctor.Missing {
			missing = append(missing, f.Name)
		}
	}
	if len(named) > 0 && len(missing) > 0 {
		return fmt.Errorf("missing: %s", strings.Join(missing, ", "))
	}
	return nil
}
