package bill_test

import (
	"strings"
	"testing"

	"github.com/introgen/introgen/results/answers/bill"
	"github.com/introgen/introgen/results/breakdown"
	"github.com/introgen/introgen/results/breakdown/breakdowntest"
	"github.com/introgen/introgen/results/table"
)

// What was compiled beside the thread that generates stands on the bill with what was
// waited for it, and the lines add up.
func TestBeside(t *testing.T) {
	bills, err := bill.Of(breakdown.Of(breakdowntest.Beside(nil)))
	if err != nil {
		t.Fatal(err)
	}
	b := bills[0]
	sum := b.Unattributed.Time
	for _, l := range b.Lines {
		sum += l.Time
	}
	if sum != b.Wall.Time || b.Libraries != 3 {
		t.Errorf("lines of %v, a wall clock of %v, %d libraries", sum, b.Wall.Time, b.Libraries)
	}
	var out strings.Builder
	if err := bill.Document(bills).Write(&out, table.Plain); err != nil {
		t.Fatal(err)
	}
	// The width of columns is not what is looked at here.
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"round 1 read gguf 10.0 2.22 % build model: 200.0 ms",
		"  build model: 200.0 ms\n    PIPE Cast a, awaited      20.0    4.43 %\n    PIPE Gemm g, awaited      50.0    11.1 %\n" +
			"    LIB  Cast, awaited        30.0    6.65 %\n    LIB  Gemm, awaited        60.0    13.3 %\n    encoding                  25.0    5.54 %\n    unattributed              15.0    3.33 %\n",
		"  decode step 1 (token 2): 50.0 ms\n    PIPE Sdpa s, awaited      15.0    3.33 %\n    LIB  Sdpa, awaited        10.0    2.22 %\n",
		"Compiling takes 255.0 ms of the wall clock, in which the thread that generates\n  waited: 3 libraries and 5 pipelines of 619.0 ms were made beside it. The longest\n  chain of them takes 285.0 ms: Sdpa and s.\n",
	} {
		if !strings.Contains(text, strings.Join(strings.Fields(want), " ")) {
			t.Errorf("the bill lacks\n%s\nin\n%s", want, &out)
		}
	}
}
