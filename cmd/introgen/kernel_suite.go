package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/kernel/suite"
	"github.com/introgen/introgen/results/sanitize"
	"github.com/urfave/cli/v2"
)

func kernelTestCommand() *cli.Command {
	return &cli.Command{
		Name:      "test",
		Usage:     "run tests of kernels, which are TOML files",
		ArgsUsage: "[DIR | FILE.toml]…",
		Description: "Every .toml file of DIR (the working folder where none is given) and of the folders in it is a\n" +
			"suite. A test states what `introgen kernel run` takes, and what buffers hold afterwards. Numbers have\n" +
			"to be equal, or as near as absolute, relative or ulp say. Names of files are relative to the suite.\n" +
			"The exit code is 1 where a test fails.\n\n" +
			"Example of a suite:\n" +
			"   source = \"twice.metal\"\n\n" +
			"   [[test]]\n" +
			"   name = \"doubles\"\n" +
			"   kernel = \"twice\"\n" +
			"   grid = 4\n" +
			"   buffers = { x = \"f32:1,2,3,4\", y = \"zeros:f32[4]\" }\n" +
			"   bytes = { n = \"u32:4\" }\n" +
			"   constants = { negative = false }\n" +
			"   expect = { y = \"f32:2,4,6,8\" }\n" +
			"   relative = 1e-6\n\n" +
			"Examples:\n" +
			"   introgen kernel test kernels/\n" +
			"   introgen kernel test kernels/ --run 'softmax.*f16' --json",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "run the tests alone whose file and name, \"DIR/FILE.toml: NAME\", the regular expression `REGEXP` finds"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON"},
			timeoutFlag(),
			driverFlag(),
		},
		Action: runKernelTest,
	}
}

func runKernelTest(c *cli.Context) (err error) {
	only, err := regexp.Compile(c.String("run"))
	if err != nil {
		return usagef("--run %w", err)
	}
	paths := c.Args().Slice()
	if len(paths) == 0 {
		paths = []string{"."}
	}
	var all []string
	for _, path := range paths {
		found, err := suite.Find(path)
		if err != nil {
			return fmt.Errorf("kernel test: %w", err)
		}
		all = append(all, found...)
	}
	d, over, err := kernelDriver(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, over()) }()
	results := []suite.Result{}
	failed := 0
	say := func(r suite.Result) error {
		results = append(results, r)
		if !r.Passed {
			failed++
		}
		if c.Bool("json") {
			return nil
		}
		_, err := io.WriteString(c.App.Writer, resultLine(r))
		return err
	}
	for _, path := range all {
		f, err := suite.Read(path)
		if err != nil {
			err = say(suite.Result{Name: path, Why: oneLine(err)})
		} else {
			err = f.Run(c.Context, d, only.MatchString, say)
		}
		if err != nil {
			return err
		}
	}
	if len(results) == 0 {
		return usagef("--run %q finds no test in %s", c.String("run"), figures.Number(len(all), "suite"))
	}
	if c.Bool("json") {
		e := json.NewEncoder(c.App.Writer)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(results); err != nil {
			return err
		}
	} else if _, err := fmt.Fprintf(c.App.Writer, "# %s: %d passed, %d failed\n", figures.Number(len(results), "test"), len(results)-failed, failed); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("kernel test: %d of %s failed", failed, figures.Number(len(results), "test"))
	}
	return nil
}

// resultLine says what became of a test.
func resultLine(r suite.Result) string {
	if r.Passed {
		return fmt.Sprintf("ok    %s (%s ms)\n", sanitize.Line(r.Name), figures.Milliseconds(time.Duration(r.Seconds*float64(time.Second))))
	}
	return fmt.Sprintf("FAIL  %s: %s\n", sanitize.Line(r.Name), oneLine(errors.New(r.Why)))
}
