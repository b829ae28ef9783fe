package main

import (
	"fmt"
	"os"

	"github.com/introgen/introgen/metalshim/apple/standin/sdk"
	"github.com/urfave/cli/v2"
)

func sdkCommand() *cli.Command {
	return &cli.Command{
		Name:      "sdk",
		Usage:     "write what programs need to use Metal on Linux, where no Mac is",
		ArgsUsage: "DIR",
		Description: "DIR gets lib (one library under the names of libobjc, Foundation and Metal),\n" +
			"include (headers for C), cargo/config.toml (for Rust), and bin/introgen, which\n" +
			"the library starts as the device. What is there is brought up to date. The\n" +
			"library is compiled once, by clang 19 or cc, and kept in the cache. A program\n" +
			"that is linked with it runs its Metal kernels on the CPU. For linux/amd64 and\n" +
			"linux/arm64; docs/sdk.md says what is there and what is not.\n\n" +
			"Examples:\n" +
			"   introgen sdk ~/metal\n" +
			"   cc -I ~/metal/include add.c -L ~/metal/lib -lMetal -Wl,-rpath,$HOME/metal/lib\n" +
			"   LD_LIBRARY_PATH=~/metal/lib ./program\n" +
			"   cargo test --config \"$(~/metal/cargo/metal-crate . config)\"",
		Action: runSDK,
	}
}

func runSDK(c *cli.Context) error {
	if c.NArg() != 1 {
		return usagef("sdk takes one folder, which it makes where it is not there")
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("the path of introgen itself: %w", err)
	}
	dir := c.Args().First()
	if err := sdk.Write(c.Context, dir, self); err != nil {
		return fmt.Errorf("writing the SDK to %s: %w", dir, err)
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s: link with -L %s/lib -lMetal, or run with LD_LIBRARY_PATH=%s/lib\n", dir, dir, dir)
	return err
}
