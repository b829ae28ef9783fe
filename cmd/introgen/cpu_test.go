package main

import (
	"fmt"
	"strings"

	"github.com/introgen/introgen/engine/cpu/kernel"
)

// cpuCondition serves the scripts' condition [cpu:NAME]: whether this machine
// runs the instruction set of that name.
func cpuCondition(cond string) (bool, error) {
	name, ok := strings.CutPrefix(cond, "cpu:")
	if !ok {
		return false, fmt.Errorf("unknown condition %q", cond)
	}
	for _, n := range kernel.Names() {
		if n == name {
			return true, nil
		}
	}
	return false, nil
}
