package soft

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/introgen/introgen/metalshim"
)

const gridKernel = `#include <metal_stdlib>
using namespace metal;
struct Args { int a; float b; ulong c[2]; };
kernel void positions(device uint* o [[buffer(3)]], constant Args& args [[buffer(5)]], constant uint3& size,
    uint3 tpig [[thread_position_in_grid]], ushort3 tgpig [[threadgroup_position_in_grid]], uint3 tpitg [[thread_position_in_threadgroup]],
    uint3 tptg [[threads_per_threadgroup]], ushort3 dtptg [[dispatch_threads_per_threadgroup]], uint3 tgpg [[threadgroups_per_grid]],
    uint3 tpg [[threads_per_grid]], ushort tiitg [[thread_index_in_threadgroup]], uint tiisg [[thread_index_in_simdgroup]],
    ushort sgiitg [[simdgroup_index_in_threadgroup]], uint sgptg [[simdgroups_per_threadgroup]], uint dsgptg [[dispatch_simdgroups_per_threadgroup]],
    uint tpsg [[threads_per_simdgroup]], uint width [[thread_execution_width]], uint tiiqg [[thread_index_in_quadgroup]],
    uint qgiitg [[quadgroup_index_in_threadgroup]], uint qgptg [[quadgroups_per_threadgroup]]) {
  device uint* r = o + 32 * (tpig.x + size.x * (tpig.y + size.y * tpig.z));
  r[0]++;
  r[1] = tgpig.x; r[2] = tgpig.y; r[3] = tgpig.z; r[4] = tpitg.x; r[5] = tpitg.y; r[6] = tpitg.z;
  r[7] = tptg.x; r[8] = tptg.y; r[9] = tptg.z; r[10] = dtptg.x; r[11] = dtptg.y; r[12] = dtptg.z;
  r[13] = tgpg.x; r[14] = tgpg.y; r[15] = tgpg.z; r[16] = tpg.x; r[17] = tpg.y; r[18] = tpg.z;
  r[19] = tiitg; r[20] = tiisg; r[21] = sgiitg; r[22] = sgptg; r[23] = dsgptg; r[24] = tpsg; r[25] = width; r[26] = tiiqg; r[27] = qgiitg; r[28] = qgptg;
  r[29] = args.a; r[30] = uint(args.b); r[31] = uint(args.c[1]);
}
kernel void line(device uint* o, uint i [[thread_position_in_grid]], uint2 j [[thread_position_in_threadgroup]]) { o[i] += i + 1000 * j.x; }
`

// TestPositions checks every value that a thread is told about its place, in
// grids whose last threadgroups are smaller, against their definitions.
func TestPositions(t *testing.T) {
	d := testDevice(t)
	lib := compile(t, d, "grid", gridKernel)
	p := pipe(t, lib, "positions")
	for _, c := range []struct {
		threads, per metalshim.Size
		whole        bool // by DispatchThreadgroups
	}{
		{metalshim.Size{X: 70, Y: 5, Z: 3}, metalshim.Size{X: 32, Y: 2, Z: 2}, false},
		{metalshim.Size{X: 3, Y: 576, Z: 1}, metalshim.Size{X: 2, Y: 512, Z: 1}, false},
		{metalshim.Size{X: 66, Y: 4, Z: 2}, metalshim.Size{X: 33, Y: 2, Z: 1}, true},
		{metalshim.Size{X: 64, Y: 4, Z: 4}, metalshim.Size{X: 32, Y: 2, Z: 2}, true},
	} {
		n := c.threads.Count()
		o, err := d.NewBuffer(n*32*4, metalshim.Shared)
		if err != nil {
			t.Fatal(err)
		}
		var args, size []byte
		args = binary.LittleEndian.AppendUint64(args, 7|0x41100000<<32) // 7, 9.0
		args = binary.LittleEndian.AppendUint64(args, 1)
		args = binary.LittleEndian.AppendUint64(args, 11)
		for _, v := range []int{c.threads.X, c.threads.Y, c.threads.Z, 0} {
			size = binary.LittleEndian.AppendUint32(size, uint32(v))
		}
		groups := metalshim.Size{X: (c.threads.X + c.per.X - 1) / c.per.X, Y: (c.threads.Y + c.per.Y - 1) / c.per.Y, Z: (c.threads.Z + c.per.Z - 1) / c.per.Z}
		if err := run(t, d, func(e metalshim.Encoder) error {
			e.SetPipeline(p)
			e.SetBuffer(3, o, 0)
			e.SetBytes(5, args)
			e.SetBytes(0, size)
			if c.whole {
				return e.DispatchThreadgroups(groups, c.per)
			}
			return e.DispatchThreads(c.threads, c.per)
		}); err != nil {
			t.Fatal(err)
		}
		raw := o.Contents()
		full := c.per.Count()
		for i := range n {
			x, y, z := i%c.threads.X, i/c.threads.X%c.threads.Y, i/c.threads.X/c.threads.Y
			gx, gy, gz := x/c.per.X, y/c.per.Y, z/c.per.Z
			px, py, pz := x%c.per.X, y%c.per.Y, z%c.per.Z
			sx, sy, sz := min(c.per.X, c.threads.X-gx*c.per.X), min(c.per.Y, c.threads.Y-gy*c.per.Y), min(c.per.Z, c.threads.Z-gz*c.per.Z)
			index := px + sx*(py+sy*pz)
			want := []int{1, gx, gy, gz, px, py, pz, sx, sy, sz, c.per.X, c.per.Y, c.per.Z, groups.X, groups.Y, groups.Z,
				c.threads.X, c.threads.Y, c.threads.Z, index, index % 32, index / 32, (sx*sy*sz + 31) / 32, (full + 31) / 32, 32, 32,
				index % 4, index / 4, (sx*sy*sz + 3) / 4, 7, 9, 11}
			for k, w := range want {
				if g := binary.LittleEndian.Uint32(raw[(i*32+k)*4:]); int(g) != w {
					t.Fatalf("%v in groups of %v: thread (%d, %d, %d): value %d is %d, want %d", c.threads, c.per, x, y, z, k, g, w)
				}
			}
		}
		o.Release()
	}
}

// TestGroupSizes runs one kernel in threadgroups of sizes that follow each
// other in every relation: the runtime keeps positions from one to the next.
func TestGroupSizes(t *testing.T) {
	d := testDevice(t)
	lib := compile(t, d, "grid", gridKernel)
	p := pipe(t, lib, "line")
	o := buffer32(t, d, make([]float32, 3000)...)
	sizes := []int{1024, 8, 761, 31, 32, 33, 1, 576, 96, 64, 1000, 288, 7}
	if err := run(t, d, func(e metalshim.Encoder) error {
		e.SetPipeline(p)
		e.SetBuffer(0, o, 0)
		for _, n := range sizes {
			if err := e.DispatchThreads(one(3000), one(n)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	raw := o.Contents()
	for i := range 3000 {
		want := 0
		for _, n := range sizes {
			want += i + 1000*(i%n)
		}
		if g := binary.LittleEndian.Uint32(raw[4*i:]); int(g) != want {
			t.Fatalf("thread %d: %d, want %d", i, g, want)
		}
	}
}

// TestManyCommandBuffers commits many small command buffers from several
// queues at once.
func TestManyCommandBuffers(t *testing.T) {
	d := testDevice(t)
	lib := compile(t, d, "grid", gridKernel)
	p := pipe(t, lib, "line")
	const queues, each = 3, 300
	errs := make(chan error, queues)
	for range queues {
		go func() {
			errs <- func() error {
				q, err := d.NewQueue()
				if err != nil {
					return err
				}
				defer q.Release()
				o, err := d.NewBufferWithBytes(make([]byte, 400))
				if err != nil {
					return err
				}
				defer o.Release()
				var last metalshim.CommandBuffer
				for range each {
					cb, err := q.NewCommandBuffer()
					if err != nil {
						return err
					}
					e, err := cb.NewEncoder(metalshim.Concurrent)
					if err != nil {
						return err
					}
					e.SetPipeline(p)
					e.SetBuffer(0, o, 0)
					if err := e.DispatchThreads(one(100), one(32)); err != nil {
						return err
					}
					if err := e.EndEncoding(); err != nil {
						return err
					}
					if err := cb.Commit(); err != nil {
						return err
					}
					defer cb.Release()
					last = cb
				}
				if err := last.Wait(context.Background()); err != nil {
					return err
				}
				for i := range 100 {
					want := each * (i + 1000*(i%32))
					if g := binary.LittleEndian.Uint32(o.Contents()[4*i:]); int(g) != want {
						t.Errorf("element %d is %d, want %d", i, g, want)
						break
					}
				}
				return nil
			}()
		}()
	}
	for range queues {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
