package main

import (
	"strings"
	"testing"
)

func TestConvert(t *testing.T) {
	const trace = `=== build
NEWBUF_BYTES b7 len=128 opts=0x100
NEWBUF b9 len=16384 opts=0x120
FENCE new f10
ENC compute e11 on c6 type=1
LIB Gemm
PIPE gemm_nn consts=[(10, "bool=0"), (200, "bool=1")]
BARRIER e11 scope=1
DISPATCH gemm_nn groups grid=1,64,1 tg=32,2,2 | [0]b9(16384,prv)+0 [1]b7(128,shr)+64 [4]GemmParams(2, 1, 1, 1, 1, 1, 1, 1, 3, 4, 5, 0, 0, 1) [5]f32=0.5 [6]u8=1 [7]u64[1, 256] [2000]tgmem=8192
BLITCOPY b7(128)+0 -> b9(16384)+0 n=4
COMMIT c6
WAIT c6
`
	const want = `section build
upload b7 128
new b9 16384 private
encoder compute
lib Gemm
pipe gemm_nn 10=0 200=1
barrier
run gemm_nn groups 1,64,1 32,2,2 8192 0=b9+0 1=b7+64 4=020000000100000001000000010000000100000001000000010000000100000003000000000000000400000000000000050000000000000000000000000000000100000000000000 5=0000003f 6=01 7=01000000000000000001000000000000
copy b7 b9 4
commit
wait
`
	var out strings.Builder
	if err := convert(strings.NewReader(trace), &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	for _, bad := range []string{"NEWBUF b1", "DISPATCH f groups grid=1 tg=1 | [0]what=1", "DISPATCH f groups grid=1 tg=1 | [0]u64=1 junk"} {
		if err := convert(strings.NewReader(bad), &out); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%q: error %v, want one that names line 1", bad, err)
		}
	}
}
