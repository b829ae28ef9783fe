package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/introgen/introgen/metalshim/apple/standin"
	"github.com/introgen/introgen/metalshim/apple/standin/sdk"
	"github.com/introgen/introgen/record/executable"
	"github.com/introgen/introgen/system/files"
)

// metalFolders is where a program finds Metal on Linux that does not find it by
// itself: the SDK in the cache folder, which is made or brought up to date. A program
// that names none of its libraries may load them later, or start others that do;
// where the SDK cannot be made it runs without, and note says why.
func metalFolders(ctx context.Context, p *executable.Program) (folders []string, note string, err error) {
	if runtime.GOOS != "linux" || p.Finds(standin.LibraryName, os.Getenv("LD_LIBRARY_PATH")) {
		return nil, "", nil
	}
	cache, err := files.Cache()
	if err != nil {
		return nil, "", err
	}
	dir := filepath.Join(cache, "sdk")
	self, err := os.Executable()
	if err == nil {
		err = sdk.Write(ctx, dir, self)
	}
	if err == nil {
		return []string{filepath.Join(dir, "lib")}, "", nil
	}
	err = fmt.Errorf("no Metal for the program, which finds none by itself: %w", err)
	if slices.ContainsFunc(p.Needed, func(name string) bool { return name == standin.LibraryName || slices.Contains(sdk.Names, name) }) {
		return nil, "", err
	}
	return nil, err.Error(), nil
}
