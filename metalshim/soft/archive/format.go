package archive

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// A file is, with numbers in little-endian order:
//
//	magic, version: uint32, length of the origin: uint32, origin: JSON
//	number of entries: uint32
//	for each: length of kind: uint8, kind, key, length of payload: uint64,
//	          length of meta: uint64, digest of kind, key, payload and meta
//	digest of all that stands before it
//	for each: payload, meta
//
// and nothing after that.
const (
	magic     = "introgen archive"
	version   = 1
	maxOrigin = 64 << 10
	maxKind   = 32
)

// errForeign is that of a file that is no archive at all, and may be something that
// somebody wants to keep.
var errForeign = errors.New("it is no archive of introgen's soft driver")

// Origin is how code was made. The IDs decide, the other texts are shown.
type Origin struct {
	Driver      string `json:"driver"`
	Compiler    string `json:"compiler"` // "clang 19.1.7"
	CompilerID  string `json:"compiler_id"`
	Processor   string `json:"processor"` // "AMD EPYC 9B45", "x86-64-v3"
	ProcessorID string `json:"processor_id"`
	Steps       string `json:"steps"` // version of what introgen does between source and code
}

// differs says what of o is not as it is here; "" if nothing is.
func (o Origin) differs(here Origin) string {
	other := func(what, its, our string) string {
		if its == our {
			return fmt.Sprintf("of another %s of the same name, %q", what, its)
		}
		return fmt.Sprintf("of another %s: %q, and not %q", what, its, our)
	}
	switch {
	case o.Driver != here.Driver:
		return other("driver", o.Driver, here.Driver)
	case o.CompilerID != here.CompilerID:
		return other("compiler", o.Compiler, here.Compiler)
	case o.ProcessorID != here.ProcessorID:
		return other("processor", o.Processor, here.Processor)
	case o.Steps != here.Steps:
		return "of another version of introgen, which made code in other steps"
	}
	return ""
}

// entry is where an entry's content lies.
type entry struct {
	at            int // offset of the payload; the meta follows
	payload, meta int
	digest        [sha256.Size]byte
}

// read is a file that has been read. The zero one is empty.
type read struct {
	all     []byte
	origin  Origin
	entries map[id]entry
	order   []id
}

// reader reads from the front of a file.
type reader struct {
	all []byte
	at  int
	err error
}

func (r *reader) take(n int, what string) []byte {
	if r.err == nil && n > len(r.all)-r.at {
		r.err = fmt.Errorf("its %s, at offset %d, should have %d bytes, of which %d are there", what, r.at, n, len(r.all)-r.at)
	}
	if r.err != nil {
		return make([]byte, min(n, 8))
	}
	r.at += n
	return r.all[r.at-n : r.at]
}

func (r *reader) number(n int, what string) uint64 {
	var b [8]byte
	copy(b[:], r.take(n, what))
	return binary.LittleEndian.Uint64(b[:])
}

// parse reads a file up to its contents, which are checked where they are used.
func parse(all []byte) (*read, error) {
	if n := min(len(all), len(magic)); string(all[:n]) != magic[:n] {
		return nil, errForeign
	}
	r := &reader{all: all}
	r.take(len(magic), "beginning")
	if v := r.number(4, "version"); r.err == nil && v != version {
		return nil, fmt.Errorf("its format, at offset %d, has the version %d, and %d is known", len(magic), v, version)
	}
	size := r.number(4, "length of its origin")
	if size > maxOrigin {
		return nil, fmt.Errorf("its origin, at offset %d, has %d bytes, and at most %d are allowed", r.at, size, maxOrigin)
	}
	origin := r.take(int(size), "origin")
	count := r.number(4, "number of entries")
	if count > maxEntries {
		return nil, fmt.Errorf("it has, by offset %d, %d entries, and at most %d are allowed", r.at-4, count, maxEntries)
	}
	out := &read{all: all, entries: map[id]entry{}}
	type length struct{ payload, meta uint64 }
	var lengths []length
	for i := 0; i < int(count) && r.err == nil; i++ {
		n := r.number(1, "table")
		if n > maxKind {
			return nil, fmt.Errorf("its table, at offset %d, has a kind of %d bytes, and at most %d are allowed", r.at-1, n, maxKind)
		}
		at := id{kind: string(r.take(int(n), "table"))}
		copy(at.key[:], r.take(len(at.key), "table"))
		lengths = append(lengths, length{r.number(8, "table"), r.number(8, "table")})
		var e entry
		copy(e.digest[:], r.take(len(e.digest), "table"))
		if _, twice := out.entries[at]; twice {
			return nil, fmt.Errorf("its table, at offset %d, has an entry for the second time", r.at)
		}
		out.entries[at] = e
		out.order = append(out.order, at)
	}
	end := r.at
	sum := r.take(sha256.Size, "digest of its table")
	if r.err != nil {
		return nil, r.err
	}
	if is := sha256.Sum256(all[:end]); !bytes.Equal(is[:], sum) {
		return nil, fmt.Errorf("the digest of its first %d bytes, at offset %d, does not match", end, end)
	}
	if err := json.Unmarshal(origin, &out.origin); err != nil {
		return nil, fmt.Errorf("its origin: %w", err)
	}
	at := r.at
	for i, n := range lengths {
		left := uint64(len(all) - at)
		if n.payload > left || n.meta > left-n.payload {
			return nil, fmt.Errorf("its entry %d, at offset %d, should have %d and %d bytes, of which %d are there", i+1, at, n.payload, n.meta, left)
		}
		e := out.entries[out.order[i]]
		e.at, e.payload, e.meta = at, int(n.payload), int(n.meta)
		out.entries[out.order[i]] = e
		at += e.payload + e.meta
	}
	if at != len(all) {
		return nil, fmt.Errorf("it ends at offset %d, and its last entry at %d", len(all), at)
	}
	return out, nil
}

// content is an entry's, if its digest is right.
func (r *read) content(at id, e entry) (content, error) {
	c := content{r.all[e.at : e.at+e.payload], r.all[e.at+e.payload : e.at+e.payload+e.meta]}
	if digest(at, c) != e.digest {
		return content{}, fmt.Errorf("the digest of its %s at offset %d does not match", at.kind, e.at)
	}
	return c, nil
}

func digest(at id, c content) [sha256.Size]byte {
	h := sha256.New()
	var n [8]byte
	for _, part := range [][]byte{[]byte(at.kind), at.key[:], c.payload, c.meta} {
		binary.LittleEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return sum
}

// builder makes a file.
type builder struct {
	origin []byte
	order  []id
	of     map[id]content
	size   int
}

func newBuilder(o Origin) *builder {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // strings cannot fail
	}
	return &builder{origin: text, of: map[id]content{}, size: len(magic) + 12 + len(text) + sha256.Size}
}

func (b *builder) has(at id) bool {
	_, ok := b.of[at]
	return ok
}

// add takes an entry in, as long as there is room.
func (b *builder) add(at id, c content) {
	size := 1 + len(at.kind) + len(at.key) + 16 + sha256.Size + len(c.payload) + len(c.meta)
	if len(b.order) == maxEntries || size > maxFile-b.size {
		return
	}
	b.order, b.of[at], b.size = append(b.order, at), c, b.size+size
}

// bytes is the file.
func (b *builder) bytes() []byte {
	out := make([]byte, 0, b.size)
	out = append(out, magic...)
	out = binary.LittleEndian.AppendUint32(out, version)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(b.origin)))
	out = append(out, b.origin...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(b.order)))
	for _, at := range b.order {
		c := b.of[at]
		out = append(append(out, byte(len(at.kind))), at.kind...)
		out = append(out, at.key[:]...)
		out = binary.LittleEndian.AppendUint64(out, uint64(len(c.payload)))
		out = binary.LittleEndian.AppendUint64(out, uint64(len(c.meta)))
		sum := digest(at, c)
		out = append(out, sum[:]...)
	}
	sum := sha256.Sum256(out)
	out = append(out, sum[:]...)
	for _, at := range b.order {
		out = append(append(out, b.of[at].payload...), b.of[at].meta...)
	}
	return out
}

// sorted lists entries in an order that does not depend on chance.
func sorted(of map[id]content) []id {
	return slices.SortedFunc(maps.Keys(of), func(a, b id) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), bytes.Compare(a.key[:], b.key[:]))
	})
}
