//go:build !linux && !darwin

package machine

import "time"

func names() (build, cpu string)      { return "", "" }
func clock() int64                    { return 0 }
func load() float64                   { return -1 }
func busyTime() (time.Duration, bool) { return 0, false }
func frequency() float64              { return -1 }
func thermal() (int64, string)        { return -1, "" }

// Memory is the machine's memory in bytes; 0 where it is not told, as here.
func Memory() int64 { return 0 }
