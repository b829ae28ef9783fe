package view

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/results/breakdown/breakdowntest"
)

// A run that compiled beside the thread that generates is shown with what each library
// took, and what of it was lost waiting.
func TestBeside(t *testing.T) {
	f := breakdowntest.Beside(nil)
	var out strings.Builder
	if err := Table(&out, f); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"libraries, in the order in which they were needed, made beside the thread that\n  generates, which lost some of that time waiting\n" +
			"library  source bytes  compile ms  cache  pipelines  create ms  lost ms\n" +
			"Cast              100        55.0  miss           1       20.0     50.0\n" +
			"Gemm              200       144.0  miss           2      110.0    160.0\n" +
			"Sdpa              300       270.0  miss           2       20.0     45.0\n" +
			"sum                         469.0                 5      150.0    255.0\n",
		"1, build model    200.0    160.0    25.0     0.0   0.0     15.0",
		"1, decode step 1   50.0     25.0     0.0     0.0   0.0     25.0",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it lacks\n%s\nin\n%s", want, &out)
		}
	}
}
