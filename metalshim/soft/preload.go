package soft

import (
	"context"
	"strings"

	"github.com/introgen/introgen/metalshim/soft/cache"
	"github.com/introgen/introgen/metalshim/soft/clang/resident"
)

// residentEntry is the kind of the cache's entry for what makes the compiler
// resident. It is no evidence of what a run compiles: no kernel hangs on it.
const residentEntry = "resident"

// preload is what makes the compiler resident, from the cache or new.
func (d *Device) preload(ctx context.Context) ([]byte, error) {
	key := cache.KeyOf(residentEntry, d.id, resident.Source(), strings.Join(resident.Flags, "\x00"))
	if d.cache != nil {
		if e, err := d.cache.Get(residentEntry, key); err == nil {
			return e.Payload, nil
		}
	}
	made, err := resident.Compile(ctx, d.tools)
	if err != nil || d.cache == nil || d.tools.Changed() {
		return made, err
	}
	// Without it the next process compiles it again, which nobody waits for.
	_ = d.cache.Put(residentEntry, key, made, nil)
	return made, nil
}
