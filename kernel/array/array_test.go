package array

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/quant"
	"github.com/introgen/introgen/system/pythontest"
)

// TestNumpy: numpy's files are read to numpy's numbers, and ours are read by numpy.
func TestNumpy(t *testing.T) {
	dir := t.TempDir()
	script := `
import sys, numpy as np
from numpy.lib import format
dir = sys.argv[1]
for name in "b1 i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 >i2 >u4 >f4 >f8".split():
    a = (np.arange(24).reshape(2, 3, 4) * 5 - (0 if "u" in name else 40)).astype(name)
    for version in (1, 2, 3):
        for order in "CF":
            with open(f"{dir}/{name}.{version}.{order}.npy", "wb") as f:
                format.write_array(f, np.asarray(a, order=order), version=(version, 0))
            print(f"{name}.{version}.{order}.npy", " ".join(str(x).lower() if name == "b1" else repr(float(x)) if name[-2] == "f" else str(x) for x in a.reshape(-1)))
np.save(f"{dir}/scalar.npy", np.float32(1.5)); print("scalar.npy 1.5")
np.save(f"{dir}/one.npy", np.array([7], dtype=np.uint16)); print("one.npy 7")
`
	c := pythontest.Command(t, script, "numpy")
	c.Args = append(c.Args, dir)
	out, err := c.Output()
	if err != nil {
		t.Fatalf("python: %v\n%s", err, out)
	}
	n := 0
	for line := range strings.Lines(string(out)) {
		name, numbers, _ := strings.Cut(strings.TrimSpace(line), " ")
		a, err := ReadNPY(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		n++
		for i, word := range strings.Fields(numbers) {
			want := &Array{a.Type, nil, make([]byte, a.Type.Size())}
			if err := want.Set(0, word); err != nil {
				t.Fatal(err)
			}
			if a.Text(i) != want.Text(0) {
				t.Errorf("%s: element %d is %s, want %s", name, i, a.Text(i), word)
				break
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "ours-"+name), a.EncodeNPY(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if n != 16*6+2 {
		t.Errorf("%d files were read", n)
	}
	c = pythontest.Command(t, `
import sys, glob, numpy as np
for path in sorted(glob.glob(sys.argv[1] + "/ours-*.npy")):
    a, b = np.load(path), np.load(path.replace("ours-", ""))
    assert a.dtype == b.dtype.newbyteorder("<") and a.shape == b.shape and (a == b).all(), path
    print(path)
`, "numpy")
	c.Args = append(c.Args, dir)
	if out, err := c.CombinedOutput(); err != nil || bytes.Count(out, []byte("\n")) != n {
		t.Errorf("numpy does not read ours: %v\n%s", err, out)
	}
}

// TestHostileNPY: a header that lies is an error of one line, and takes no memory.
func TestHostileNPY(t *testing.T) {
	file := func(major byte, length int, header string, data int) []byte {
		b := append([]byte(magic), major, 0)
		if major == 1 {
			b = binary.LittleEndian.AppendUint16(b, uint16(length))
		} else {
			b = binary.LittleEndian.AppendUint32(b, uint32(length))
		}
		return append(append(b, header...), make([]byte, data)...)
	}
	ok := "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n"
	for want, b := range map[string][]byte{
		"it is no .npy file":                []byte("PK\x03\x04 a zip"),
		"version 4 of .npy":                 file(4, len(ok), ok, 24),
		"a header of 4294967295 bytes":      file(2, math.MaxUint32, ok, 24),
		"a header of 1000 bytes":            file(1, 1000, ok, 24),
		"takes 24 bytes, and 20 follow":     file(1, len(ok), ok, 20),
		"takes 24 bytes, and 28 follow":     file(1, len(ok), ok, 28),
		"has more than":                     file(1, 72, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 9999), }\n", 24),
		"no number":                         file(1, 55, "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", 24),
		"type <c8":                          file(1, 56, "{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }", 24),
		"descr of a plain type":             file(1, 70, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }    \n", 24),
		"an array of 65 dimensions":         file(1, 60+65*2, "{'descr': '<f4', 'fortran_order': False, 'shape': ("+strings.Repeat("1,", 65)+"), }"+strings.Repeat(" ", 8), 24),
		"it does not begin with \\x93NUMPY": nil,
	} {
		if a, err := decodeNPY(b); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("want %q, got %v, %v", want, a, err)
		}
	}
	if a, err := decodeNPY(file(1, len(ok), ok, 24)); err != nil || a.String() != "f32[2,3]" {
		t.Errorf("%v, %v", a, err)
	}
}

func FuzzNPY(f *testing.F) {
	for _, t := range Types {
		a, err := New(t, []int{2, 3})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(a.EncodeNPY())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := decodeNPY(b)
		if err != nil {
			return
		}
		again, err := decodeNPY(a.EncodeNPY())
		if err != nil || again.String() != a.String() || !bytes.Equal(again.Data, a.Data) {
			t.Errorf("%v, %v; again %v", a, err, again)
		}
	})
}

// TestHalf: every binary16 reads as the decoder of models' weights reads it, and
// rounds back to itself; between two neighbours the nearer one is taken, of two the even.
func TestHalf(t *testing.T) {
	for h := range 1 << 16 {
		v := halfToFloat(uint16(h))
		want := float64(quant.HalfToFloat(uint16(h)))
		if v != want && (v == v || want == want) {
			t.Fatalf("%04x: %v, want %v", h, v, want)
		}
		if v == v && floatToHalf(v) != uint16(h) {
			t.Fatalf("%04x: %v rounds to %04x", h, v, floatToHalf(v))
		}
		if h&0x7fff < 0x7bff {
			next := halfToFloat(uint16(h + 1))
			even := uint16(h + h&1)
			if got := floatToHalf((v + next) / 2); got != even {
				t.Fatalf("between %04x and its neighbour: %04x", h, got)
			}
			if got := floatToHalf(v + (next-v)*0.51); got != uint16(h+1) {
				t.Fatalf("above %04x: %04x", h, got)
			}
		}
		b := math.Float32frombits(uint32(h) << 16)
		if got := floatToBfloat(float64(b)); b == b && got != uint16(h) {
			t.Fatalf("bfloat %04x rounds to %04x", h, got)
		}
		if up := math.Float32frombits(uint32(h+1) << 16); h&0x7fff < 0x7f7f {
			if got := floatToBfloat((float64(b) + float64(up)) / 2); got != uint16(h+h&1) {
				t.Fatalf("between bfloat %04x and its neighbour: %04x", h, got)
			}
		}
	}
	if floatToHalf(65519.9) != 0x7bff || floatToHalf(65520) != 0x7c00 || floatToBfloat(math.MaxFloat64) != 0x7f80 {
		t.Error("large numbers")
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"zeros:f32[2,2]": "f32[2,2] 0 0 0 0", "ones:i8[3]": "i8[3] 1 1 1", "full:f16[5]:0.5": "f16[5] 0.5 0.5 0.5 0.5 0.5",
		"iota:u32[4]": "u32[4] 0 1 2 3", "u32:64": "u32[] 64", "f32:1,-2.5,1e3": "f32[3] 1 -2.5 1000", "i16:-0x10": "i16[] -16", "bool:true,false": "bool[2] true false",
		"full:bf16[1]:3.14159": "bf16[1] 3.140625",
	} {
		a, err := Parse(text, "", 1<<20)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := a.String()
		for i := range a.Len() {
			got += " " + a.Text(i)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"": "is wanted", "zeros": "is wanted", "zeros:f32": "is wanted", "zeros:f32[0]": "from 1 on", "zeros:f33[2]": `type "f33" is not known`,
		"zeros:f32[1048576]": "at most 1048576 can be given", "zeros:f32[99999999999,99999999999]": "has more than", "iota:u8[300]": "beyond what u8 has",
		"full:u8[2]:300": "0 to 255", "full:f16[2]:1e9": "beyond what f16 has", "full:f32[2]": "full:TYPE[SHAPE]:VALUE", "rand:f32[2]:x": "seed",
		"i32:3000000000": "-2147483648 to 2147483647", "f32:": "no number", "zeros:f32[2]:1": "no more than a type", "none.npy": "no such file", "what:f32[2]": "is wanted",
		"f32:" + "1e999": "no number that f32 has",
	} {
		if a, err := Parse(text, t.TempDir(), 1<<20); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %v; want %q", text, a, err, want)
		}
	}
	a, errA := Parse("rand:f16[100]:7", "", 1<<20)
	b, errB := Parse("rand:f16[100]:7", "", 1<<20)
	c, errC := Parse("rand:f16[100]:8", "", 1<<20)
	if errA != nil || errB != nil || errC != nil || !bytes.Equal(a.Data, b.Data) || bytes.Equal(a.Data, c.Data) {
		t.Errorf("rand: %v %v %v", errA, errB, errC)
	}
	for i := range a.Len() {
		if v := a.Float(i); v < 0 || v >= 1 {
			t.Errorf("rand: %v", v)
		}
	}
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		wanted, got string
		t           Tolerance
		want        string
	}{
		{"f32:1,2", "f32:1,2", Tolerance{}, ""},
		{"f32:1,nan,inf", "f32:1,nan,inf", Tolerance{}, ""},
		{"f32:1,inf", "f32:1,-inf", Tolerance{Absolute: 9}, "1 of 2 differ; the first at [1]: wanted +Inf, got -Inf"},
		{"f64:1e300", "f32:inf", Tolerance{}, ""},
		{"f32:1,nan", "f32:1,2", Tolerance{Absolute: 9}, "1 of 2 differ; the first at [1]: wanted NaN, got 2"},
		{"f32:1,2,3", "f32:1,2.5,4", Tolerance{}, "2 of 3 differ; the first at [1]: wanted 2, got 2.5; at most by 1, at [2]"},
		{"f32:1,2,3", "f32:1,2.5,4", Tolerance{Absolute: 0.5}, "1 of 3 differ; the first at [2]: wanted 3, got 4"},
		{"f32:100", "f32:101", Tolerance{Relative: 0.01}, ""},
		{"f32:1", "f32:1.0000002384185791", Tolerance{ULP: 1}, "1 of 1 differ; the first at []: wanted 1, got 1.0000002"},
		{"f32:1", "f32:1.0000002384185791", Tolerance{ULP: 2}, ""},
		{"f16:1", "f16:1.0009765625", Tolerance{ULP: 1}, ""},
		{"i64:9007199254740993", "i64:9007199254740992", Tolerance{}, "1 of 1 differ; the first at []: wanted 9007199254740993, got 9007199254740992"},
		{"u64:18446744073709551615", "u64:18446744073709551614", Tolerance{Absolute: 1}, ""},
	} {
		w, err1 := Parse(c.wanted, "", 1<<20)
		g, err2 := Parse(c.got, "", 1<<20)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		d, err := Compare(w, g, c.t)
		got := ""
		if d != nil {
			got = d.String()
		}
		if err != nil || got != c.want {
			t.Errorf("%s and %s: %q, %v; want %q", c.wanted, c.got, got, err, c.want)
		}
	}
	w, _ := Parse("f32:1,2", "", 99)
	for _, text := range []string{"f32:1", "i32:1,2"} {
		g, _ := Parse(text, "", 99)
		if d, err := Compare(w, g, Tolerance{}); err == nil {
			t.Errorf("%s: %v", text, d)
		}
	}
}
