package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/introgen/introgen/metalshim/msl/trim"
	"github.com/introgen/introgen/system/files"
	"github.com/urfave/cli/v2"
)

// maxMetal bounds a source that is read from a file, in bytes: what the soft driver
// takes.
const maxMetal = 16 << 20

func kernelsTrimCommand() *cli.Command {
	return &cli.Command{
		Name:      "trim",
		Usage:     "write a library's source with only the kernels that are used",
		ArgsUsage: "FILE.metal",
		Description: "A program that compiles a library from source waits for all kernels in it, used or not. What is\n" +
			"written has those of --keep, and the functions, types and constants that they need, in the\n" +
			"lines in which they stood. Directives stay, and what only the compiler decides is left to it.\n" +
			"What cannot be taken out safely stays; notes say what and why. `introgen coverage` of a recorded\n" +
			"program says which kernels it uses.\n\n" +
			"Examples:\n" +
			"   introgen kernels trim unary.metal --keep cos_f32,sin_f32 -o unary.trimmed.metal\n" +
			"   introgen kernels trim unary.metal --keep cos_f32 --keep sin_f32",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "keep", Usage: "the `KERNELS` to keep, by the names that the program asks for, with commas between"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE` rather than to standard output"},
		},
		Action: runKernelsTrim,
	}
}

func runKernelsTrim(c *cli.Context) error {
	if c.NArg() != 1 {
		return usagef("kernels trim takes one file, and got %d; `introgen kernels trim unary.metal --keep cos_f32` is one", c.NArg())
	}
	keep := strings.FieldsFunc(strings.Join(c.StringSlice("keep"), ","), func(r rune) bool { return r == ',' || r == ' ' })
	if len(keep) == 0 {
		return usagef("kernels trim wants --keep with the names of kernels: without any nothing would be left")
	}
	path, output := c.Args().First(), c.String("output")
	if there, err := os.Stat(path); err == nil && output != "" {
		if other, err := os.Stat(output); err == nil && os.SameFile(there, other) {
			return usagef("--output %q is the source itself, which it would replace; give another name", output)
		}
	}
	text, err := files.ReadAtMost(path, maxMetal)
	if err != nil {
		return fmt.Errorf("kernels trim: %w", err)
	}
	r, err := trim.Of(filepath.Base(path), string(text), keep)
	if err != nil {
		return fmt.Errorf("kernels trim: %w", err)
	}
	for _, s := range r.Stays {
		noteTo(c.App.ErrWriter, "%s", staying(path, s))
	}
	if output == "" {
		_, err := io.WriteString(c.App.Writer, r.Text)
		return err
	}
	if err := files.Write(output, []byte(r.Text), files.Options{Unsynced: true}); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s: %d of %d kernels, %d of %d bytes\n", output, len(r.Kernels), len(r.Kernels)+r.Gone, len(r.Text), len(text))
	return err
}

// mostNamed bounds how many kernels a note names.
const mostNamed = 5

// staying is a sentence about what was not asked for and stays.
func staying(path string, s trim.Stay) string {
	what := "this text stays"
	if n := len(s.Kernels); n > 0 {
		names := s.Kernels[:min(n, mostNamed)]
		what = strings.Join(names, ", ")
		if n > mostNamed {
			what += fmt.Sprintf(" and %d more", n-mostNamed)
		}
		if n == 1 {
			what += " stays"
		} else {
			what += " stay"
		}
	}
	return fmt.Sprintf("%s:%d: %s: %s", path, s.Line, what, s.Why)
}
