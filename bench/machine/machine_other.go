//go:build !linux && !darwin

package machine

import "time"

func facts() (build, cpu string, memory int64) { return "", "", 0 }
func clock() int64                             { return 0 }
func load() float64                            { return -1 }
func busyTime() (time.Duration, bool)          { return 0, false }
func frequency() float64                       { return -1 }
func thermal() (int64, string)                 { return -1, "" }
