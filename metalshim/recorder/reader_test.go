package recorder

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// image is the memory of a ring of 8 slots, as ring.h lays it out.
func image(head, tail uint64, slots ...[8]uint64) []byte {
	b := make([]byte, 4096+8*64)
	for at, v := range map[int]uint64{0: 0x31474e5254494e49, 8: 1, 16: 8, 24: 42, 32: 41, 40: 1000, 48: 51000, 64: head, 128: tail, 192: 7, 200: 33_000} {
		binary.LittleEndian.PutUint64(b[at:], v)
	}
	for i, s := range slots {
		for k, v := range s {
			binary.LittleEndian.PutUint64(b[4096+64*i+8*k:], v)
		}
	}
	return b
}

// mark is an event MARK in slot i, whose text has n bytes.
func mark(i, n uint64) [8]uint64 {
	return [8]uint64{i + 1, 2000 + i, 3 | 31<<32 | n<<48, 0, 1, 2, 3, 4}
}

func abc(i uint64) [8]uint64 { return [8]uint64{i + 1 | 1<<63, 0x636261} }

func TestReader(t *testing.T) {
	for _, c := range []struct {
		name       string
		head, tail uint64
		slots      [][8]uint64
		read       []string // while the process lives
		rest       []string // when it is gone, besides
		skipped    int
		damaged    string
	}{
		{"empty", 0, 0, nil, nil, nil, 0, ""},
		{"two", 3, 0, [][8]uint64{mark(0, 0), mark(1, 3), abc(2)}, []string{"", "abc"}, nil, 0, ""},
		{"unpublished", 3, 0, [][8]uint64{mark(0, 0), {}, mark(2, 0)}, []string{""}, []string{""}, 1, ""},
		{"text without its event", 4, 0, [][8]uint64{mark(0, 0), {}, abc(2), mark(3, 0)}, []string{""}, []string{""}, 2, ""},
		{"second time round", 10, 8, [][8]uint64{mark(8, 0), mark(1, 0)}, []string{""}, nil, 1, ""},
		{"number from nowhere", 2, 0, [][8]uint64{{77}, mark(1, 0)}, []string{""}, nil, 0, "slot 0 has the number 0x4d"},
		{"kind 0", 1, 0, [][8]uint64{{1}}, nil, nil, 0, "kind 0"},
		{"kind 999", 1, 0, [][8]uint64{{1, 0, 999 << 32}}, nil, nil, 0, "kind 999"},
		{"text beyond the head", 2, 0, [][8]uint64{mark(0, 60), abc(1)}, nil, nil, 1, "60 bytes of text"},
		{"text that is none", 2, 0, [][8]uint64{mark(0, 3), mark(1, 0)}, []string{""}, nil, 0, "where a text goes on"},
		{"longest text", 8, 0, [][8]uint64{mark(0, 65535)}, nil, nil, 7, "65535 bytes of text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := newRing("x.ring", image(c.head, c.tail, c.slots...))
			if err != nil {
				t.Fatal(err)
			}
			if r.PID() != 42 || r.Parent() != 41 || r.Lost() != 7 || r.Cost() != 33 {
				t.Errorf("process %d of %d, lost %d, cost %v", r.PID(), r.Parent(), r.Lost(), r.Cost())
			}
			var read, rest []string
			check := func(e Event) {
				if e.Kind != Mark || e.Thread != 3 || e.A != 1 || e.D != 4 || e.Time < 52000 || e.Time > 52009 {
					t.Errorf("%+v", e)
				}
			}
			n := r.Read(100, func(e Event) { check(e); read = append(read, e.Text) })
			skipped := r.Rest(func(e Event) { check(e); rest = append(rest, e.Text) })
			if n != len(c.read) || strings.Join(read, "|") != strings.Join(c.read, "|") || len(rest) != len(c.rest) || strings.Join(rest, "|") != strings.Join(c.rest, "|") {
				t.Errorf("read %q, rest %q; want %q, %q", read, rest, c.read, c.rest)
			}
			if skipped != c.skipped {
				t.Errorf("skipped %d, want %d", skipped, c.skipped)
			}
			switch {
			case c.damaged == "" && r.Err() != nil, c.damaged != "" && (!errors.Is(r.Err(), ErrDamaged) || !strings.Contains(r.Err().Error(), c.damaged)):
				t.Errorf("%v", r.Err())
			}
			if got := r.word(offTail); got != c.head {
				t.Errorf("the writer is told %d, not %d", got, c.head)
			}
		})
	}
}

// The times in an event are on one clock with its own.
func TestClocks(t *testing.T) {
	commit := [8]uint64{1, 2000, 16 << 32, 9, 1500, 8, 7, 6}
	completed := [8]uint64{2, 3000, 18 << 32, 9, 2100, 2200, 4, 0}
	failed := [8]uint64{3, 3000, 18 << 32, 9, 0, 0, 5, 0}
	r, err := newRing("x.ring", image(3, 0, commit, completed, failed))
	if err != nil {
		t.Fatal(err)
	}
	want := []Event{
		{Time: 52000, Kind: Commit, Object: 9, A: 51500, B: 8, C: 7, D: 6},
		{Time: 53000, Kind: Completed, Object: 9, A: 52100, B: 52200, C: 4},
		{Time: 53000, Kind: Completed, Object: 9, C: 5},
	}
	r.Read(2, func(e Event) {
		if e != want[0] {
			t.Errorf("%+v, want %+v", e, want[0])
		}
		want = want[1:]
	})
	if len(want) != 1 {
		t.Errorf("%d events are left, 1 was not asked for", len(want))
	}
	if e := want[0]; r.Rest(func(got Event) {
		if got != e {
			t.Errorf("%+v, want %+v", got, e)
		}
	}) != 0 {
		t.Error("skipped")
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	version, capacity, head := image(0, 0), image(0, 0), image(0, 0)
	version[8], capacity[16], head[64] = 2, 7, 9
	for name, text := range map[string][]byte{
		"1.ring": nil, "2.ring": make([]byte, 4096), "3.ring": version, "4.ring": capacity, "5.ring": head, "6-2.ring": image(0, 0)[:4096+7*64], "7.ring": image(0, 0),
		"8.new": image(0, 0), "x.ring": image(0, 0), "99999999999999999999.ring": image(0, 0),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "7.ring"), filepath.Join(dir, "9.ring")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "10.ring"), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	rings := f.Rings()
	if len(rings) != 1 || rings[0].PID() != 42 {
		t.Fatalf("%d rings", len(rings))
	}
	defer rings[0].Close()
	if len(f.Refused) != 8 {
		t.Errorf("refused: %v", f.Refused)
	}
	others := 0
	for _, err := range f.Refused {
		if errors.Is(err, ErrVersion) {
			others++
		} else if !errors.Is(err, ErrDamaged) {
			t.Errorf("%v", err)
		}
	}
	if again := f.Rings(); others != 1 || len(again) != 0 {
		t.Errorf("%d of another version; %d rings the second time", others, len(again))
	}
	if _, err := OpenFolder(filepath.Join(dir, "none")); err == nil {
		t.Error("an absent folder is opened")
	}
	if _, err := OpenFolder(filepath.Join(dir, "7.ring")); err == nil {
		t.Error("a file is opened as a folder")
	}
}

// A file that is cut short while it is read is a fault of the ring.
func TestCutShort(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "1.ring")
	if err := os.WriteFile(path, image(2, 0, mark(0, 0), mark(1, 0)), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := openRing(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if n := r.Read(9, func(Event) {}); n != 0 || !errors.Is(r.Err(), ErrDamaged) {
		t.Errorf("%d events, %v", n, r.Err())
	}
	if r.Lost() != 0 || r.Cost() != 0 || r.Rest(func(Event) {}) != 0 {
		t.Error("a closed ring tells something")
	}
}

// FuzzRing reads rings that hold anything at all.
func FuzzRing(f *testing.F) {
	f.Add(image(3, 0, mark(0, 0), mark(1, 3), abc(2)))
	f.Add(image(10, 8, mark(8, 60), abc(9)))
	f.Add(image(4, 0, [8]uint64{}, abc(1), mark(2, 65535), abc(3)))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := newRing("x.ring", append(make([]byte, 0, len(text)), text...)) // aligned
		if err != nil {
			return
		}
		n, bytes := 0, 0
		each := func(e Event) {
			n++
			bytes += len(e.Text)
		}
		head := r.word(offHead) - r.tail
		r.Read(3, each)
		skipped := r.Rest(each)
		if uint64(n+skipped) > head || bytes > len(text) {
			t.Errorf("%d events, %d slots skipped and %d bytes of text from %d slots", n, skipped, bytes, head)
		}
		if r.Err() == nil && r.tail != r.word(offHead) {
			t.Errorf("it ended at %d of %d without an error", r.tail, r.word(offHead))
		}
	})
}

// BenchmarkRead is what reading an event costs, without a text and with one.
func BenchmarkRead(b *testing.B) {
	const slots = 1 << 16
	for name, length := range map[string]uint64{"plain": 0, "text": 20} {
		b.Run(name, func(b *testing.B) {
			memory := make([]byte, headBytes+slots*slotBytes)
			copy(memory, image(0, 0)[:headBytes])
			binary.LittleEndian.PutUint64(memory[offCapacity:], slots)
			binary.LittleEndian.PutUint64(memory[offHead:], slots)
			for i := uint64(0); i < slots; i++ {
				e := mark(i, length)
				if length > 0 && i%2 == 1 {
					e = abc(i)
				}
				for k, v := range e {
					binary.LittleEndian.PutUint64(memory[headBytes+i*slotBytes+uint64(k)*8:], v)
				}
			}
			events := 0
			for b.Loop() {
				r, err := newRing("x.ring", memory)
				if err != nil {
					b.Fatal(err)
				}
				r.Read(slots, func(Event) { events++ })
				binary.LittleEndian.PutUint64(memory[offTail:], 0)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
		})
	}
}
