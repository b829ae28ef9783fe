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

// deviceEnv names the introgen that the SDK's library starts as the device.
const deviceEnv = "INTROGEN_METAL_SERVER"

// metalOf gives a program Metal on Linux that does not find it by itself: the SDK in
// the cache folder, of this version's library alone, and this introgen as its device.
// A program that names none of the SDK's libraries may load them later, or start
// others that do; where the SDK cannot be made it runs without, and note says why.
func metalOf(ctx context.Context, p *executable.Program, env []string) (folders, set []string, note string, err error) {
	if runtime.GOOS != "linux" || p.Finds(standin.LibraryName, os.Getenv("LD_LIBRARY_PATH")) {
		return nil, env, "", nil
	}
	dir, self, err := writeSDK(ctx)
	if err == nil {
		if _, named := os.LookupEnv(deviceEnv); !named {
			env = append(slices.Clone(env), deviceEnv+"="+self)
		}
		return []string{filepath.Join(dir, "lib")}, env, "", nil
	}
	err = fmt.Errorf("no Metal for the program, which finds none by itself: %w", err)
	if slices.ContainsFunc(p.Needed, func(name string) bool { return name == standin.LibraryName || slices.Contains(sdk.Names, name) }) {
		return nil, nil, "", err
	}
	return nil, env, err.Error(), nil
}

// writeSDK sees to the SDK in a folder that is named by its library, so that another
// introgen with another one has its own.
func writeSDK(ctx context.Context) (dir, self string, err error) {
	cache, err := files.Cache()
	if err != nil {
		return "", "", err
	}
	library, err := standin.BuildLibrary(ctx)
	if err != nil {
		return "", "", err
	}
	if self, err = os.Executable(); err != nil {
		return "", "", err
	}
	name := filepath.Base(library)
	dir = filepath.Join(cache, "record", name[:len(name)-len(filepath.Ext(name))])
	return dir, self, sdk.Write(ctx, dir, self)
}
