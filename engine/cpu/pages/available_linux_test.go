package pages

import "testing"

func TestAvailable(t *testing.T) {
	for text, want := range map[string]int64{
		"MemTotal:       24594440 kB\nMemFree:  100 kB\nMemAvailable:   2048 kB\nSwapFree:  1024 kB\nHugePages_Total:       0\n": 3 << 20,
		"SwapFree:  0 kB\nMemAvailable:   1 kB\n":                   1 << 10,
		"SwapFree:  5 kB\nMemAvailable:   many kB\n":                -1,
		"MemFree:  100 kB\n":                                        -1,
		"MemAvailable:   99999999999999999999999999 kB\nMemFree: 1": -1,
		"": -1,
	} {
		if n, ok := available([]byte(text)); ok != (want >= 0) || ok && n != want {
			t.Errorf("%q: %d, %v; want %d", text, n, ok, want)
		}
	}
	if n, ok := Available(); !ok || n <= 0 {
		t.Errorf("this machine: %d, %v", n, ok)
	}
}
