package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/metalshim/soft/cache"
	"github.com/urfave/cli/v2"
)

func cacheCommand() *cli.Command {
	return &cli.Command{
		Name:  "cache",
		Usage: "show or empty the cache of compiled Metal libraries and pipelines",
		Description: "The soft driver keeps what it has compiled, as macOS does. INTROGEN_CACHE names another folder.\n\n" +
			"Examples:\n" +
			"   introgen cache status\n" +
			"   introgen cache clear && introgen metal 1 --trace      a cold run without a nonce",
		Subcommands: []*cli.Command{
			{Name: "status", Usage: "print the folder, its entries by kind and their size", Action: func(c *cli.Context) error {
				return withCache(c, func(w io.Writer, dir string, k *cache.Cache) error {
					if k == nil {
						_, err := fmt.Fprintf(w, "%s: not there yet\n", dir)
						return err
					}
					s, err := k.Status()
					if err != nil {
						return err
					}
					return writeCacheStatus(w, s)
				})
			}},
			{Name: "clear", Usage: "remove all entries", Action: func(c *cli.Context) error {
				return withCache(c, func(w io.Writer, dir string, k *cache.Cache) error {
					n, bytes := 0, int64(0)
					if k != nil {
						var err error
						if n, bytes, err = k.Clear(); err != nil {
							return err
						}
					}
					_, err := fmt.Fprintf(w, "%s: removed %d entries, %s MB\n", dir, n, figures.Text(float64(bytes)/1e6, 1))
					return err
				})
			}},
			{Name: "path", Usage: "print the folder", Action: func(c *cli.Context) error {
				dir, err := cache.Dir()
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(c.App.Writer, dir)
				return err
			}},
		},
	}
}

// withCache calls f with the cache, or with nil where there is none yet: to
// look at it must not make it.
func withCache(c *cli.Context, f func(w io.Writer, dir string, k *cache.Cache) error) error {
	if c.NArg() > 0 {
		return usagef("cache %s takes no argument, %q is too many", c.Command.Name, c.Args().First())
	}
	dir, err := cache.Dir()
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return f(c.App.Writer, dir, nil)
	}
	k, err := cache.Open(dir, 0)
	if err != nil {
		return err
	}
	return f(c.App.Writer, dir, k)
}

func writeCacheStatus(w io.Writer, s cache.Status) error {
	count, bytes := map[string]int{}, map[string]int64{}
	for _, i := range s.Items {
		count[i.Kind]++
		bytes[i.Kind] += i.Bytes
	}
	if _, err := fmt.Fprintf(w, "%s: %d entries, %s of at most %s MB\n", s.Dir, len(s.Items), figures.Text(float64(s.Bytes)/1e6, 1), figures.Count(float64(s.Limit)/1e6)); err != nil {
		return err
	}
	for _, k := range slices.Sorted(maps.Keys(count)) {
		if _, err := fmt.Fprintf(w, "  %-10s %4d entries, %s MB\n", k, count[k], figures.Text(float64(bytes[k])/1e6, 1)); err != nil {
			return err
		}
	}
	return nil
}
