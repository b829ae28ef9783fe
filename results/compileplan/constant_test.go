package compileplan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim"
)

// TestConstantsAreExact holds what is read of a recording's words to the bits that
// metalshim wrote them of, for every type that it knows.
func TestConstantsAreExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	edges := []uint64{0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
		0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc00001, 0x3dcccccd, 0x00000001, 0x007fffff, 0x7f7fffff}
	for i := range 5000 {
		bits := random.Uint64()
		if i < len(edges) {
			bits = edges[i]
		}
		for kind, size := range map[metalshim.ConstantType]int{metalshim.Float: 4, metalshim.Int: 4, metalshim.UInt: 4, metalshim.Short: 2, metalshim.UShort: 2,
			metalshim.Char: 1, metalshim.UChar: 1, metalshim.Bool: 0, 16: 2, 81: 8, 85: 8} {
			c := metalshim.Constant{Index: i, Type: kind, Bits: bits & 1}
			if size > 0 {
				c.Bits = bits & (math.MaxUint64 >> (64 - 8*size))
			}
			got, err := ParseConstants(c.String())
			if err != nil || len(got) != 1 {
				t.Fatalf("%s: %v, %v", c, got, err)
			}
			back, err := got[0].Bits()
			if data, n := got[0].DataType(); err != nil || back != c.Bits || got[0].Index != i || data != int(kind) || n != max(1, size) {
				t.Fatalf("%s is %+v: bits %#x, want %#x: %v", c, got[0], back, c.Bits, err)
			}
		}
	}
}

func TestParseConstants(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"10:bool=1 300:bool=0":     "10:bool=1 300:bool=0",
		"use_mask:bool=1 2:int=-3": "use_mask:bool=1 2:int=-3",
		"1:float=0.1":              "1:float=0.1",
		"1:float=-0":               "1:float=-0",
		"1:float=+Inf":             "1:float=+Inf",
		"1:float=NaN(0x7fc00000)":  "1:float=0x7fc00000",
		"1:type 16=15360":          "1:half=0x3c00",
		"1:type 81=18446744073709551615 2:type 85=18446744073709551615": "1:long=-1 2:ulong=18446744073709551615",
	} {
		got, err := ParseConstants(text)
		if said := strings.Trim(fmt.Sprint(got), "[]"); err != nil || said != want {
			t.Errorf("%q: %q, %v; want %q", text, said, err, want)
		}
	}
	for text, want := range map[string]string{
		"10":                           `not written as 10:bool=1`,
		"10:bool":                      `not written as 10:bool=1`,
		":bool=1":                      `not written as 10:bool=1`,
		"10:bool=1 ":                   `end in a blank`,
		"10:bool=2":                    `out of range`,
		"10:bool=":                     `not written as plans write one`,
		"10:bool=01":                   `not written as plans write one`,
		"10:char=128":                  `out of range`,
		"10:float=NaN":                 `NaN without the bits`,
		"10:float=NaN(0x3f800000)":     `not written as plans write one`,
		"10:float=0.10000000149011612": `not written as plans write one`,
		"10:type 4=12":                 `is of the type 4, whose value the recording may not have whole`,
		"65536:bool=1":                 `neither a number below 65536 nor a name`,
		"a b:bool=1":                   `neither a number below 65536 nor a name`,
		"a\n:bool=1":                   `neither a number below 65536 nor a name`,
	} {
		if got, err := ParseConstants(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want an error with %q", text, got, err, want)
		}
	}
}
