package main

import (
	"errors"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/engine/gguf/describe"
	"github.com/introgen/introgen/models"
	"github.com/urfave/cli/v2"
)

func metaCommand() *cli.Command {
	return &cli.Command{
		Name:      "meta",
		Usage:     "print what a model file holds, and how long each reader takes for its header",
		ArgsUsage: "[MODEL]",
		Description: "Prints size, where the tensor data start, the counts and every metadata key.\n" +
			"The header is read once with each reader: mmap maps the file, buffered reads it in\n" +
			"blocks, file makes a system call for every value.\n\n" +
			"Examples:\n" +
			"   introgen meta\n" +
			"   introgen meta model.gguf --tensors\n" +
			"   introgen meta model.gguf --json | jq .metadata",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "tensors", Usage: "print the tensor table too"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
			&cli.StringFlag{Name: "io", Usage: "the reader to put first: mmap, buffered or file", Value: string(gguf.MMap)},
		},
		Action: runMeta,
	}
}

func runMeta(c *cli.Context) (err error) {
	if c.NArg() > 1 {
		return usagef("meta takes one model, %q is too many", c.Args().Get(1))
	}
	if c.NArg() == 1 && c.Args().First() == "" {
		return usagef("meta: MODEL is empty: a file or the name of a model is wanted")
	}
	mode, err := readIO(c.String("io"))
	if err != nil {
		return err
	}
	path, err := models.Find(c.Args().First())
	if err != nil {
		return err
	}
	f, err := gguf.Open(path, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	reads, err := describe.TimeReads(path, mode)
	if err != nil {
		return err
	}
	o := describe.Options{Reads: reads, Tensors: c.Bool("tensors")}
	if c.Bool("json") {
		return describe.JSON(c.App.Writer, f, o)
	}
	return describe.Text(c.App.Writer, f, o)
}
