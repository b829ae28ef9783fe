// Package commandbuffer keeps the books of command buffers as candle 0.11.0 does
// (candle-metal-kernels/src/metal/commands.rs, encoder.rs): when one is
// committed, before which dispatches a barrier stands, and which fences a new
// encoder waits for. It holds no Metal object and calls none.
package commandbuffer

import (
	"fmt"
	"strconv"
)

// Env names the environment variable that candle reads the setting from.
const Env = "CANDLE_METAL_COMPUTE_PER_BUFFER"

// DefaultPerBuffer is how many commands a command buffer holds unless said
// otherwise.
const DefaultPerBuffer = 50

// Counter decides when a command buffer is full. The zero Counter commits
// before every operation.
type Counter struct {
	// PerBuffer is the number of operations of a command buffer, ≥ 0. With 0
	// each operation is preceded by a commit, the first one of an empty
	// command buffer, and otherwise it is as with 1.
	PerBuffer int

	count int
}

// Op counts one operation, which may be several dispatches, or one blit. It
// says whether the current command buffer must be committed before it.
func (c *Counter) Op() (commit bool) {
	commit = c.count >= c.PerBuffer
	c.count++
	if commit {
		c.count = 1
	}
	return commit
}

// Flushed notes that the current command buffer has been committed for
// another reason: a wait.
func (c *Counter) Flushed() { c.count = 0 }

// Pending says whether an operation has been counted since the last Flushed.
func (c *Counter) Pending() bool { return c.count > 0 }

// ParsePerBuffer reads the setting from text. source, a flag or an environment
// variable, is named in the error. candle takes its default for what it cannot
// read; here that is an error.
func ParsePerBuffer(source, text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%s=%q: commands per buffer must be a whole number from 0 to 2147483647 (0 commits every command; the default is %d)", source, text, DefaultPerBuffer)
	}
	return int(n), nil
}
