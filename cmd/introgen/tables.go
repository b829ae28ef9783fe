package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/introgen/introgen/results/parquet"
	"github.com/introgen/introgen/results/recording"
	"github.com/introgen/introgen/results/sanitize"
	"github.com/urfave/cli/v2"
)

// showTables writes the tables of recordings to the folder of --output, which is
// made where it is not there. Nothing is written where two recordings would have
// one name.
func showTables(c *cli.Context, as format, paths []string) error {
	folder := c.String("output")
	if folder == "" {
		return usagef("--as %s writes files: -o DIR says in which folder, such as `introgen show %s --as %s -o tables`",
			as.as, sanitize.Line(c.Args().First()), as.as)
	}
	taken := map[string]string{}
	for _, path := range paths {
		name := strings.ToLower(parquet.Name(path)) // names that differ by case alone are one on macOS
		if other, ok := taken[name]; ok {
			return usagef("%s and %s would be written to files of one name in %s: give each a folder of its own, or call one something else", other, path, folder)
		}
		taken[name] = path
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	for _, path := range paths {
		f, err := recording.Open(path)
		if err != nil {
			return err
		}
		noteDamage(c.App.ErrWriter, f)
		written, err := as.tables(folder, parquet.Name(path), f)
		if err != nil {
			return fmt.Errorf("--output: %w", err)
		}
		for _, file := range written {
			if _, err := fmt.Fprintln(c.App.Writer, sanitize.Line(file)); err != nil {
				return err
			}
		}
	}
	return nil
}
