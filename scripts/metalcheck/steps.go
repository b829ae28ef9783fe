package main

import (
	"strconv"
	"time"

	"github.com/introgen/introgen/engine/metal/metaltest"
	"github.com/introgen/introgen/results/store"
)

// step is one command of the list.
type step struct {
	name    string
	argv    []string
	env     []string
	judge   func(output string, err error) outcome
	model   bool   // runs a model's kernels, which need simdgroups
	without bool   // is for devices without simdgroups
	mac     bool   // needs macOS itself
	leaks   string // of which steps the leaks are compared
	limit   time.Duration
}

// sweep are the experiment's numbers of commands a buffer.
var sweep = []int{1, 10, 50, 200, 100000}

// watched are the environments in which Apple's libraries look for mistakes.
var watched = []struct {
	name string
	env  []string
}{
	{"debug layer", []string{"MTL_DEBUG_LAYER=1", "MTL_DEBUG_LAYER_ERROR_MODE=assert"}},
	{"shader validation", []string{"MTL_SHADER_VALIDATION=1"}},
	{"missing pools", []string{"OBJC_DEBUG_MISSING_POOLS=YES"}},
	{"zombies", []string{"NSZombieEnabled=YES"}},
}

// steps is the list.
func steps(program, folder string) []step {
	const minutes = time.Minute
	driver := []string{metaltest.DriverEnv + "=apple"}
	goTest := func(name string, env []string, packages ...string) step {
		argv := append([]string{"go", "test", "-json", "-count=1", "-timeout=30m"}, packages...)
		return step{name: name, argv: argv, env: append(append([]string{}, driver...), env...), judge: judgeTests, limit: 31 * minutes}
	}
	cli := func(name string, args ...string) step {
		argv := append([]string{program, "metal", "--driver", "apple"}, args...)
		return step{name: name, argv: argv, env: []string{store.DirEnv + "=" + folder, store.KeepEnv + "=1"}, judge: judgeExit, model: true, limit: 15 * minutes}
	}
	leaks := func(name string, model bool, tests, pkg string) []step {
		var out []step
		for _, rounds := range []string{"1", "5"} {
			out = append(out, step{name: name + ", " + rounds, leaks: name, mac: true, model: model, judge: judgeLeaks, limit: 31 * minutes,
				argv: []string{"go", "test", "-exec=leaks --atExit --", "-count=" + rounds, "-timeout=30m", "-run=" + tests, pkg},
				env:  append([]string{"INTROGEN_TEST_LEAKS=1"}, driver...)})
		}
		return out
	}
	refused := cli("a model is refused", "1", "--trace")
	refused.judge, refused.model, refused.without = judgeRefusal, false, true
	runText := goTest("the run's text", nil, "./engine/metal", "-run=TestSoft|TestCandleKernels")
	runText.model = true
	list := []step{
		goTest("driver and encodings", nil, "./metalshim/drivers", "./metalshim/apple", "./metalshim/apple/objc"),
		goTest("kernels against references", nil, "./engine/metal/kernels"),
		runText,
		refused,
		cli("cold", "2", "--trace", "--nonce"),
		cli("warm, first", "2", "--trace"),
		cli("warm, again", "2", "--trace"),
		cli("weights mapped", "2", "--trace", "--weights", "map"),
	}
	for _, n := range sweep {
		list = append(list, cli("sweep "+strconv.Itoa(n), "2", "--commands-per-buffer", strconv.Itoa(n)))
	}
	list = append(list, leaks("leaks of the driver", false, "TestRun|TestConstants|TestBufferFaults|TestArchive|TestGoroutines", "./metalshim/apple")...)
	list = append(list, leaks("leaks of the run", true, "TestSoft", "./engine/metal")...)
	for _, w := range watched {
		tests := goTest(w.name+", driver", w.env, "./metalshim/apple", "-short")
		run := cli(w.name+", run", "1")
		run.env = append(run.env, w.env...)
		tests.mac, run.mac = true, true
		list = append(list, tests, run)
	}
	return list
}
