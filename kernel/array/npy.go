package array

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/introgen/introgen/system/files"
)

// numpy's format, versions 1 to 3: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

const magic = "\x93NUMPY"

// maxHeader bounds a header, in bytes. Those of arrays have some hundred.
const maxHeader = 1 << 16

// maxDimensions is numpy's own bound.
const maxDimensions = 64

var descriptors = map[string]Type{"b1": Bool, "i1": I8, "u1": U8, "i2": I16, "u2": U16, "i4": I32, "u4": U32, "i8": I64, "u8": U64,
	"f2": F16, "f4": F32, "f8": F64, "V2": BF16}

var (
	descrKey   = regexp.MustCompile(`['"]descr['"]\s*:\s*['"]([<>|=]?)([a-zA-Z]\d+)['"]`)
	fortranKey = regexp.MustCompile(`['"]fortran_order['"]\s*:\s*(True|False)`)
	shapeKey   = regexp.MustCompile(`['"]shape['"]\s*:\s*\(([^)]*)\)`)
)

// ReadNPY reads an array of a .npy file. Big-endian numbers are turned. V2 is taken
// for bf16, as ml_dtypes writes it.
func ReadNPY(path string) (*Array, error) {
	b, err := files.ReadAtMost(path, MaxBytes+maxHeader)
	if err != nil {
		return nil, err
	}
	a, err := decodeNPY(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

func decodeNPY(b []byte) (*Array, error) {
	rest, is := bytes.CutPrefix(b, []byte(magic))
	if !is || len(rest) < 6 {
		return nil, errors.New("it is no .npy file: it does not begin with \\x93NUMPY")
	}
	length, at := int(binary.LittleEndian.Uint16(rest[2:])), 4
	switch rest[0] {
	case 1:
	case 2, 3:
		length, at = int(binary.LittleEndian.Uint32(rest[2:])), 6
	default:
		return nil, fmt.Errorf("version %d of .npy: 1, 2 and 3 are read", rest[0])
	}
	if length > maxHeader || length > len(rest)-at {
		return nil, fmt.Errorf("a header of %d bytes: the file has %d, and at most %d are taken", length, max(0, len(rest)-at), maxHeader)
	}
	header, data := string(rest[at:at+length]), rest[at+length:]
	descr, fortran, shape := descrKey.FindStringSubmatch(header), fortranKey.FindStringSubmatch(header), shapeKey.FindStringSubmatch(header)
	if descr == nil || fortran == nil || shape == nil {
		return nil, fmt.Errorf("header %.80q: descr of a plain type, fortran_order and shape are wanted", strings.TrimSpace(header))
	}
	a := &Array{Type: descriptors[descr[2]]}
	if a.Type == "" {
		return nil, fmt.Errorf("type %s: bool, i1 to i8, u1 to u8, f2, f4, f8 and V2 (bf16) are read", descr[1]+descr[2])
	}
	for _, word := range strings.Split(shape[1], ",") {
		word = strings.TrimSuffix(strings.TrimSpace(word), "L") // of Python 2
		if word == "" {
			continue
		}
		d, err := strconv.Atoi(word)
		if err != nil || d < 0 {
			return nil, fmt.Errorf("shape (%s): it has a dimension that is no number", shape[1])
		}
		a.Shape = append(a.Shape, d)
	}
	if len(a.Shape) > maxDimensions {
		return nil, fmt.Errorf("an array of %d dimensions: at most %d are read", len(a.Shape), maxDimensions)
	}
	n, err := size(a.Type, a.Shape)
	if err != nil {
		return nil, err
	}
	if n != len(data) {
		return nil, fmt.Errorf("%s takes %d bytes, and %d follow the header", a, n, len(data))
	}
	a.Data = data
	if descr[1] == ">" && a.Type.Size() > 1 {
		a.Data = turned(data, a.Type.Size())
	}
	if fortran[1] == "True" {
		a.Data = a.rowMajor()
	}
	return a, nil
}

// turned is data with the bytes of each element in the other order.
func turned(data []byte, size int) []byte {
	out := make([]byte, len(data))
	for i := range data {
		out[i] = data[i-i%size+size-1-i%size]
	}
	return out
}

// rowMajor is the data of an array that lies in Fortran's order.
func (a *Array) rowMajor() []byte {
	out, n, w := make([]byte, len(a.Data)), a.Len(), a.Type.Size()
	at := make([]int, len(a.Shape)) // the index of element i in row-major order
	for i := range n {
		from, stride := 0, 1
		for k, d := range a.Shape {
			from += at[k] * stride
			stride *= d
		}
		copy(out[i*w:(i+1)*w], a.Data[from*w:])
		for k := len(at) - 1; k >= 0; k-- {
			if at[k]++; at[k] < a.Shape[k] {
				break
			}
			at[k] = 0
		}
	}
	return out
}

// EncodeNPY is the array as a .npy file of version 1.
func (a *Array) EncodeNPY() []byte {
	code := ""
	for c, t := range descriptors {
		if t == a.Type {
			code = c
		}
	}
	order := "<"
	if a.Type.Size() == 1 {
		order = "|"
	}
	shape := strings.Trim(Dimensions(a.Shape), "[]")
	if len(a.Shape) == 1 {
		shape += ","
	}
	header := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }", order, code, strings.ReplaceAll(shape, ",", ", "))
	header = strings.Replace(header, ", ), }", ",), }", 1)
	const before = len(magic) + 4
	pad := 63 - (before+len(header))%64
	header += strings.Repeat(" ", pad) + "\n"
	b := append([]byte(magic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	return append(append(b, header...), a.Data...)
}
