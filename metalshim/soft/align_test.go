package soft

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim"
)

// alignKernels copy a T for each thread by way of each address space, through
// threadgroup memory to dst, and from constant memory to 8192 behind, and at 16384
// one value at an address that is the same for all; or they add 1 or 2 to a
// vector. at says where the first T lies and how far they are apart.
const alignKernels = `#include <metal_stdlib>
using namespace metal;
struct halves { half4 a; };
struct mixed { half4 a; float4 b; uchar4 c; };
struct pieces { char4 a; ushort2 b; };
struct many { float4 a[3]; };
#define COPY(T) \
kernel void copy_##T(device uchar* dst [[buffer(0)]], device const uchar* src [[buffer(1)]], constant uchar* con [[buffer(2)]], \
    constant uint* at [[buffer(3)]], threadgroup uchar* tg [[threadgroup(0)]], uint i [[thread_position_in_grid]]) { \
  uint p = at[0] + at[1] * i; \
  *(threadgroup T*)(tg + p) = *(device const T*)(src + p); \
  threadgroup_barrier(mem_flags::mem_threadgroup); \
  *(device T*)(dst + p) = *(threadgroup const T*)(tg + p); \
  *(device T*)(dst + 8192 + p) = *(constant T*)(con + p); \
  *(device T*)(dst + 16384 + at[0]) = *(constant T*)(con + at[0]); \
}
#define ADD(T) \
kernel void add_##T(device uchar* dst [[buffer(0)]], device const uchar* src [[buffer(1)]], constant uint* at [[buffer(3)]], \
    uint i [[thread_position_in_grid]]) { \
  uint p = at[0] + at[1] * i; \
  device const T& from = *(device const T*)(src + p); \
  device T& to = *(device T*)(dst + p); \
  to = from + T(1); \
  if (i % 3 == 1) to += T(1); \
}
COPY(float2) COPY(float4) COPY(half2) COPY(half4) COPY(bfloat4) COPY(uint4) COPY(short4) COPY(char2) COPY(char4) COPY(ulong2)
COPY(float4x4) COPY(half2x4) COPY(halves) COPY(mixed) COPY(pieces) COPY(many)
ADD(uint4) ADD(ushort4) ADD(uchar4) ADD(ulong2)
`

// vectorKernel is one of alignKernels. What lies outside of a T's fields is no value.
type vectorKernel struct {
	name          string
	size, element int      // bytes of a T, and of the largest element in it
	fields        [][2]int // offset and bytes; nil: all of it
}

// TestUnalignedVectors: a vector is loaded and stored wherever its elements may
// lie, in every address space, as by Apple's GPUs.
func TestUnalignedVectors(t *testing.T) {
	kernels := []vectorKernel{
		{"copy_float4", 16, 4, nil}, {"copy_half4", 8, 2, nil}, {"copy_char4", 4, 1, nil}, {"copy_float4x4", 64, 4, nil},
		{"copy_mixed", 48, 4, [][2]int{{0, 8}, {16, 16}, {32, 4}}}, {"add_uint4", 16, 4, nil},
	}
	t.Run("masked", func(t *testing.T) {
		d, err := Open(context.Background(), Options{CacheDir: t.TempDir(), Form: "scalar"})
		skipWithout(t, err)
		t.Cleanup(func() { d.Close() })
		testVectors(t, d, kernels)
	})
	t.Run("lanes", func(t *testing.T) {
		testVectors(t, testDevice(t), append(kernels, []vectorKernel{
			{"copy_float2", 8, 4, nil}, {"copy_half2", 4, 2, nil}, {"copy_bfloat4", 8, 2, nil}, {"copy_uint4", 16, 4, nil},
			{"copy_short4", 8, 2, nil}, {"copy_char2", 2, 1, nil}, {"copy_ulong2", 16, 8, nil}, {"copy_half2x4", 16, 2, nil},
			{"copy_halves", 8, 2, nil}, {"copy_many", 48, 4, nil}, {"copy_pieces", 8, 2, [][2]int{{0, 4}, {4, 4}}},
			{"add_ushort4", 8, 2, nil}, {"add_uchar4", 4, 1, nil}, {"add_ulong2", 16, 8, nil},
		}...))
	})
}

func testVectors(t *testing.T, d *Device, kernels []vectorKernel) {
	const threads = 45
	r := rand.New(rand.NewPCG(7, 11))
	src := make([]byte, 8192)
	for i := range src {
		src[i] = byte(r.Uint32())
	}
	lib := compile(t, d, "align", alignKernels)
	for _, k := range kernels {
		p := pipe(t, lib, k.name)
		fields := k.fields
		if fields == nil {
			fields = [][2]int{{0, k.size}}
		}
		for _, at := range []int{0, k.element, 3 * k.element, 7 * k.element} {
			for _, stride := range []int{k.size, k.size + k.element, k.size + 5*k.element} {
				want := make([]byte, 3*8192)
				for i := range threads {
					for _, f := range fields {
						from := at + stride*i + f[0]
						v := src[from:][:f[1]]
						if strings.HasPrefix(k.name, "add_") {
							copy(want[from:], added(v, k.element, 1+uint64(i%3%2)))
							continue
						}
						copy(want[from:], v)
						copy(want[8192+from:], v)
						copy(want[2*8192+at+f[0]:], src[at+f[0]:][:f[1]])
					}
				}
				got, err := moved(t, d, p, src, at, stride, threads)
				if err != nil {
					t.Errorf("%s at %d, %d bytes apart: %v", k.name, at, stride, err)
					continue
				}
				for i := range want {
					inner := (i%8192 - at) % stride
					in := i%8192 >= at && slices.ContainsFunc(fields, func(f [2]int) bool { return inner >= f[0] && inner < f[0]+f[1] })
					if got[i] != want[i] && (in || k.fields == nil) {
						t.Errorf("%s at %d, %d bytes apart: byte %d is %#x, want %#x", k.name, at, stride, i, got[i], want[i])
						break
					}
				}
			}
		}
	}
}

// added is a vector of unsigned integers, to each of which n is added.
func added(v []byte, element int, n uint64) []byte {
	out := bytes.Clone(v)
	for at := 0; at < len(v); at += element {
		var word [8]byte
		copy(word[:], v[at:at+element])
		binary.LittleEndian.PutUint64(word[:], binary.LittleEndian.Uint64(word[:])+n)
		copy(out[at:at+element], word[:])
	}
	return out
}

// moved runs a kernel and returns what it wrote into dst.
func moved(t *testing.T, d *Device, p metalshim.Pipeline, src []byte, at, stride, threads int) ([]byte, error) {
	t.Helper()
	dst, err := d.NewBufferWithBytes(make([]byte, 3*8192))
	if err != nil {
		return nil, fmt.Errorf("destination: %w", err)
	}
	defer dst.Release()
	from, err := d.NewBufferWithBytes(src)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	defer from.Release()
	place := binary.LittleEndian.AppendUint32(nil, uint32(at))
	place = binary.LittleEndian.AppendUint32(place, uint32(stride))
	err = run(t, d, func(e metalshim.Encoder) error {
		e.SetPipeline(p)
		e.SetBuffer(0, dst, 0)
		e.SetBuffer(1, from, 0)
		if strings.HasPrefix(p.Name(), "copy_") {
			e.SetBuffer(2, from, 0)
			e.SetThreadgroupMemory(0, 8192)
		}
		e.SetBytes(3, place)
		return e.DispatchThreads(one(threads), one(threads))
	})
	return bytes.Clone(dst.Contents()), err
}
