package recording

import (
	"fmt"
	"path/filepath"
	"strings"
)

// NamesBeside are what files are called that are shown beside each other, in their
// order and each in another way: its name, and of the folders that it lies in as many
// as tell it from others of that name. What stands there twice gets a number, and a
// file that has no path is called nothing.
func NamesBeside(paths ...string) []string {
	parts := make([][]string, len(paths))
	folders := make([]int, len(paths))
	for i, path := range paths {
		if path != "" {
			parts[i] = strings.Split(filepath.ToSlash(filepath.Clean(path)), "/")
		}
	}
	name := func(i int) string { return strings.Join(parts[i][max(0, len(parts[i])-1-folders[i]):], "/") }
	for more := true; more; {
		more = false
		for _, same := range groups(parts, name) {
			for _, i := range same {
				if len(same) > 1 && folders[i] < len(parts[i])-1 {
					folders[i]++
					more = true
				}
			}
		}
	}
	out := make([]string, len(paths))
	for _, same := range groups(parts, name) {
		for k, i := range same {
			if out[i] = name(i); k > 0 {
				out[i] = fmt.Sprintf("%s (%d)", out[i], k+1)
			}
		}
	}
	return out
}

// groups are the paths that have one name, each by its number.
func groups(parts [][]string, name func(int) string) map[string][]int {
	out := map[string][]int{}
	for i := range parts {
		if parts[i] != nil {
			out[name(i)] = append(out[name(i)], i)
		}
	}
	return out
}
