package figures

import (
	"math"
	"strconv"
	"testing"
	"time"
)

// TestText: three digits count at least, also where rounding makes one more.
func TestText(t *testing.T) {
	for _, c := range []struct {
		v        float64
		decimals int
		want     string
	}{
		{0, 1, "0.0"}, {35.54, 1, "35.5"}, {7.3, 1, "7.30"}, {9.996, 1, "10.0"}, {9.9949, 1, "9.99"}, {0.412, 1, "0.412"}, {0.0063, 2, "0.00630"},
		{0.00412345, 1, "0.00412"}, {-0.0123456, 1, "-0.0123"}, {144811.36, 1, "144811.4"}, {123456, 0, "123456"}, {99.96, 0, "100"}, {99.94, 0, "99.9"},
		{13.08, 0, "13.1"}, {0.999999, 0, "1.00"}, {1.234e-12, 1, "1.23e-12"}, {1e-20, 0, "1.00e-20"}, {5e-324, 0, "4.94e-324"},
		{math.Inf(1), 1, "+Inf"},
	} {
		if got := Text(c.v, c.decimals); got != c.want {
			t.Errorf("%v with %d decimals is %q, want %q", c.v, c.decimals, got, c.want)
		}
	}
}

// TestMagnitudes holds what is printed to the number: it differs by less than
// half of the third digit, from nanoseconds to hours.
func TestMagnitudes(t *testing.T) {
	for e := -18; e <= 15; e++ {
		for _, m := range []float64{1, 1.0049, 1.2345, 3.14159, 9.9949, 9.99501, 9.9999} {
			v := m * math.Pow(10, float64(e))
			for decimals := range 4 {
				got, err := strconv.ParseFloat(Text(v, decimals), 64)
				if err != nil || math.Abs(got-v) > 0.00501*v {
					t.Errorf("%v with %d decimals is printed as %s", v, decimals, Text(v, decimals))
				}
			}
			if got, err := strconv.ParseFloat(Exact(v), 64); err != nil || got != v {
				t.Errorf("%v is written as %s", v, Exact(v))
			}
		}
	}
}

func TestMilliseconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0", 1: "0.000001", 12: "0.000012", 412: "0.000412", 4123: "0.00412", 19_709: "0.0197", 412_000: "0.412", 7_300_000: "7.30",
		35_540_000: "35.5", 97*time.Second + 448_764_765: "97448.8", 3 * time.Hour: "10800000.0", -412_000: "-0.412", 9_996_000: "10.0",
	} {
		if got := Milliseconds(d); got != want {
			t.Errorf("%d ns are %q, want %q", int64(d), got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for part, want := range map[float64]string{0: "0 %", 0.0004: "0.0400 %", 0.0213: "2.13 %", 0.13081: "13.1 %", 1.2: "120 %", -0.33: "-33.0 %", 12.34: "1234 %"} {
		if got := Percent(part); got != want {
			t.Errorf("%v is %q, want %q", part, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 999: "999 bytes", 1000: "1.00 kB", 144_811_072: "144.8 MB", 2_500_000_000: "2.50 GB",
	} {
		if got := Size(n); got != want {
			t.Errorf("Size(%d) = %q; want %q", n, got, want)
		}
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0 runs", 1: "1 run", 12: "12 runs"} {
		if got := Number(n, "run"); got != want {
			t.Errorf("%d are %q, want %q", n, got, want)
		}
	}
}
