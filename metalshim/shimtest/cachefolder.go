package shimtest

import "os"

// CacheFolder gives a process that has no folder for caches, since neither HOME
// nor XDG_CACHE_HOME is set, one of its own until remove is called. What tests
// build for themselves goes there.
func CacheFolder() (remove func()) {
	if _, err := os.UserCacheDir(); err == nil {
		return func() {}
	}
	dir, err := os.MkdirTemp("", "introgen-cache-")
	if err == nil {
		err = os.Setenv("XDG_CACHE_HOME", dir)
	}
	if err != nil {
		panic(err)
	}
	return func() { _ = os.RemoveAll(dir) }
}
