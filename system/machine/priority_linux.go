package machine

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// giveWay is the niceness of what others come before.
const giveWay = 10

// GiveWay has the system prefer other processes to this one. What it starts later
// inherits that.
func GiveWay() error {
	tasks, err := os.ReadDir("/proc/self/task") // each thread has a priority of its own, which those that it starts inherit
	if err != nil {
		return fmt.Errorf("the threads of this process: %w", err)
	}
	for _, task := range tasks {
		id, err := strconv.Atoi(task.Name())
		if err != nil {
			continue
		}
		if err := unix.Setpriority(unix.PRIO_PROCESS, id, giveWay); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("the priority of thread %d: %w", id, err)
		}
	}
	return nil
}
