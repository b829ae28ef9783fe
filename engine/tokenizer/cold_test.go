package tokenizer

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/introgen/introgen/engine/gguf"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/models/modeltest"
)

// coldEnv makes the test binary the process that TestCold measures.
const coldEnv = "INTROGEN_TEST_COLD_MODEL"

func TestMain(m *testing.M) {
	if path := os.Getenv(coldEnv); path != "" {
		if err := cold(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// cold opens the model, makes the tokenizer and encodes the prompt, all for
// the first time in this process, and prints how long that took.
func cold(path string) error {
	start := time.Now()
	f, err := gguf.Open(path, gguf.MMap)
	if err != nil {
		return err
	}
	opened := time.Now()
	k, err := New(f, "go")
	if err != nil {
		return err
	}
	built := time.Now()
	ids, err := k.Encode(prompt)
	if err != nil || len(ids) != 13 {
		return fmt.Errorf("prompt is %v, %v", ids, err)
	}
	end := time.Now()
	fmt.Println(end.Sub(start).Nanoseconds(), opened.Sub(start), built.Sub(opened), end.Sub(built))
	return nil
}

// TestCold: the tokenizer is ready within 20 ms of a process that has done
// nothing yet. One of several processes must show it, since a test does not have
// the machine to itself.
func TestCold(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: measures time, which the race detector changes; run without -short")
	}
	path := modeltest.Path(t, models.StandIn)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const limit, tries = 20 * time.Millisecond, 25
	best := time.Hour
	for i := 0; i < tries && best > limit; i++ {
		c := exec.Command(exe)
		c.Env = append(os.Environ(), coldEnv+"="+path)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var ns int64
		var open, build, encode string
		if _, err := fmt.Sscan(string(out), &ns, &open, &build, &encode); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		best = min(best, time.Duration(ns))
		t.Logf("ready after %v: open %s, build %s, encode %s", time.Duration(ns), open, build, encode)
	}
	if best > limit {
		t.Errorf("the tokenizer is ready after %v, want at most %v", best, limit)
	}
}
