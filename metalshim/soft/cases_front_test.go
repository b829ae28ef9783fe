package soft

import "testing"

func same(i int, in []float32) float64 { return float64(in[i]) }

// TestCasesOfTheLanguage: what a source says in MSL that is no C++.
func TestCasesOfTheLanguage(t *testing.T) {
	cases(t, []sourceCase{
		{file: "b4_template_functional_cast", want: func(i int, in []float32) float64 { return float64(in[i]) + 2 }},
		{file: "b5_template_cast_half", want: same},
	})
}
