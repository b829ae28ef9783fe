package drivers

import (
	"os"
	"runtime"
	"time"

	"github.com/introgen/introgen/metalshim/apple"
	"github.com/introgen/introgen/metalshim/soft/cache"
)

// Folder is where a driver's compiled code is kept, and how much is there.
type Folder struct {
	Dir     string
	Entries int
	Bytes   int64
	Changed time.Time // the latest change, or zero where that is not known
}

// BeginFolder begins to measure the cache of the driver that Open opens by that name,
// before it is opened and beside what else there is to do: the folder may have ten
// thousand files. The function that it returns waits for the answer, once; ok is false
// where there is no cache.
func BeginFolder(name string) (wait func() (f Folder, ok bool)) {
	type answer struct {
		folder Folder
		ok     bool
	}
	answered := make(chan answer, 1)
	go func() {
		var a answer
		if _, with := standInAsked(); isApple(name) && !with {
			a.folder, a.ok = appleFolder()
		} else if dir, err := cache.Dir(); err == nil {
			a.folder, a.ok = softFolder(dir)
		}
		answered <- a
	}()
	return func() (Folder, bool) {
		a := <-answered
		return a.folder, a.ok
	}
}

// standInAsked says whether the environment asks for the stand-in of Metal, and what it
// says.
func standInAsked() (value string, with bool) {
	value = os.Getenv(apple.EnvStandIn)
	return value, runtime.GOOS != "darwin" && value != ""
}

func softFolder(dir string) (Folder, bool) {
	entries, bytes, err := cache.Measure(dir)
	return Folder{Dir: dir, Entries: entries, Bytes: bytes}, err == nil
}

func appleFolder() (Folder, bool) {
	c, err := apple.Cache()
	return Folder{c.Path, c.Files, c.Bytes, c.Changed}, err == nil && c.Path != ""
}
