package array

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/introgen/introgen/system/files"
)

// Forms are what Parse takes, for messages and help.
const Forms = "FILE.npy, raw:FILE, zeros:f32[4,64], ones:…, full:f32[64]:0.5, iota:u32[64], rand:f32[4,64]:SEED or f32:1,2,3"

var typed = regexp.MustCompile(`^([a-z0-9]+)\[([0-9, ]*)\]$`)

// Parse makes the array that a text states, one of Forms. Relative names of files
// are of dir. At most most bytes are made or read.
//
// iota counts from 0. rand is uniform in [0, 1) for floats, and over all values of
// the other types; the same seed always gives the same numbers.
func Parse(text, dir string, most int64) (*Array, error) {
	head, rest, has := strings.Cut(text, ":")
	if has && head == "raw" {
		return readRaw(under(dir, rest), most)
	}
	if strings.HasSuffix(text, ".npy") {
		a, err := ReadNPY(under(dir, text))
		if err == nil && int64(len(a.Data)) > most {
			err = fmt.Errorf("%s: %s takes %d bytes, and at most %d can be given", text, a, len(a.Data), most)
		}
		return a, err
	}
	if !has {
		return nil, fmt.Errorf("%q: %s is wanted", text, Forms)
	}
	if t, err := ParseType(head); err == nil {
		return listed(t, rest)
	}
	what, argument, given := strings.Cut(rest, ":")
	m := typed.FindStringSubmatch(what)
	if m == nil {
		return nil, fmt.Errorf("%q: %s is wanted", text, Forms)
	}
	t, err := ParseType(m[1])
	if err != nil {
		return nil, err
	}
	shape, err := parseShape(m[2])
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	if n, err := size(t, shape); err != nil {
		return nil, err
	} else if int64(n) > most {
		return nil, fmt.Errorf("%s takes %d bytes, and at most %d can be given", what, n, most)
	}
	a, err := New(t, shape)
	if err != nil {
		return nil, err
	}
	if err := a.fill(head, argument, given); err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return a, nil
}

func under(dir, path string) string {
	if dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func readRaw(path string, most int64) (*Array, error) {
	b, err := files.ReadAtMost(path, most)
	if err != nil {
		return nil, err
	}
	return &Array{U8, []int{len(b)}, b}, nil
}

func parseShape(text string) ([]int, error) {
	var shape []int
	for _, word := range strings.Split(text, ",") {
		word = strings.TrimSpace(word)
		if word == "" && strings.TrimSpace(text) == "" {
			break
		}
		d, err := strconv.Atoi(word)
		if err != nil || d < 1 {
			return nil, fmt.Errorf("shape [%s]: whole numbers from 1 on are wanted, with commas between", text)
		}
		shape = append(shape, d)
	}
	if len(shape) > maxDimensions {
		return nil, fmt.Errorf("%d dimensions: at most %d are possible", len(shape), maxDimensions)
	}
	return shape, nil
}

// listed is an array of the numbers in text: one of no dimensions where it is one.
func listed(t Type, text string) (*Array, error) {
	words := strings.Split(text, ",")
	var shape []int
	if len(words) > 1 {
		shape = []int{len(words)}
	}
	a, err := New(t, shape)
	if err != nil {
		return nil, err
	}
	for i, w := range words {
		if err := a.Set(i, strings.TrimSpace(w)); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// fill gives a new array its numbers.
func (a *Array) fill(how, argument string, given bool) error {
	switch how {
	case "zeros", "ones", "iota":
		if given {
			return fmt.Errorf("%s takes no more than a type and a shape", how)
		}
	case "full", "rand":
		if how == "full" && !given {
			return errors.New("full:TYPE[SHAPE]:VALUE is wanted")
		}
	default:
		return fmt.Errorf("%s is wanted", Forms)
	}
	switch how {
	case "ones":
		argument = "1"
		fallthrough
	case "full":
		if a.Len() == 0 {
			return nil
		}
		if err := a.Set(0, argument); err != nil {
			return err
		}
		w := a.Type.Size()
		for at := w; at < len(a.Data); at *= 2 {
			copy(a.Data[at:], a.Data[:at])
		}
	case "iota":
		return a.iota()
	case "rand":
		seed := uint64(0)
		if given {
			var err error
			if seed, err = strconv.ParseUint(argument, 10, 64); err != nil {
				return fmt.Errorf("seed %q: a whole number from 0 on is wanted", argument)
			}
		}
		a.random(seed)
	}
	return nil
}

func (a *Array) iota() error {
	n := a.Len()
	if a.Type == Bool && n > 2 || !a.Type.Float() && a.Type.Size() < 8 && n-1 > a.highest() {
		return fmt.Errorf("iota of %d numbers goes beyond what %s has", n, a.Type)
	}
	for i := range n {
		if a.Type.Float() {
			a.SetFloat(i, float64(i))
		} else {
			a.setBits(i, uint64(i))
		}
	}
	return nil
}

// highest is the largest number of an integer type of at most 4 bytes.
func (a *Array) highest() int {
	bits := 8 * a.Type.Size()
	if a.Type[0] == 'i' {
		bits--
	}
	return 1<<bits - 1
}

func (a *Array) random(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	for i := range a.Len() {
		switch {
		case a.Type == F64:
			a.SetFloat(i, r.Float64())
		case a.Type == F32:
			a.SetFloat(i, float64(r.Uint32()>>8)/(1<<24))
		case a.Type == F16:
			a.SetFloat(i, float64(r.Uint32()>>21)/(1<<11))
		case a.Type == BF16:
			a.SetFloat(i, float64(r.Uint32()>>24)/(1<<8))
		case a.Type == Bool:
			a.setBits(i, uint64(r.Uint32()>>31))
		default:
			a.setBits(i, r.Uint64())
		}
	}
}
