// Package cache keeps compiled Metal code on disk: the counterpart of the
// cache that the system keeps on a Mac. An entry is one file, written under
// another name and renamed, so that parallel processes see a whole entry or
// none. Since the code in it is going to be run, the folder and its files must
// belong to the user and be writable by nobody else, and every entry carries a
// digest that is checked before it is used.
package cache

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/introgen/introgen/system/files"
)

// Env names another folder for the cache.
const Env = "INTROGEN_CACHE"

// DefaultLimit is how many bytes the entries may take together.
const DefaultLimit = 512 << 20

// Key identifies an entry by everything that its content depends on.
type Key [sha256.Size]byte

// String is the key in hexadecimal.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// KeyOf is the key of parts, each taken with its length, so that no two
// different lists have the same key.
func KeyOf(parts ...string) Key {
	h := sha256.New()
	for _, p := range parts {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	var k Key
	h.Sum(k[:0])
	return k
}

// Errors of Get, for errors.Is.
var (
	ErrMiss    = errors.New("no such entry")
	ErrDamaged = errors.New("damaged entry")
)

// Dir is the cache's folder: what INTROGEN_CACHE names, else introgen/metal in
// the user's cache folder.
func Dir() (string, error) {
	if d := os.Getenv(Env); d != "" {
		return filepath.Abs(d)
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cache folder: %w; name one in %s", err, Env)
	}
	return filepath.Join(base, "introgen", "metal"), nil
}

// Cache is an open cache. It may be used by several goroutines.
type Cache struct {
	dir   string
	limit int64

	mu   sync.Mutex
	room int64 // bytes that may be written before the folder is looked at again
}

// Open opens the cache in dir, making the folder if there is none. limit is in
// bytes, 0 the default. A folder that is not private to the user is refused.
func Open(dir string, limit int64) (*Cache, error) {
	if limit == 0 {
		limit = DefaultLimit
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cache folder: %w", err)
	}
	target, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("cache folder: %w", err)
	}
	if err := private(target); err != nil {
		return nil, err
	}
	return &Cache{dir: target, limit: limit}, nil
}

// Dir is the folder.
func (c *Cache) Dir() string { return c.dir }

// An entry's file is: payload, meta, trailer.
const (
	magic   = "introgen\x01"
	trailer = len(magic) + 8 + 8 + sha256.Size
	suffix  = ".entry"
	// unfinished is what entries are called before they are whole.
	unfinished = "new-*.part"
	// maxEntry bounds what is read into memory.
	maxEntry = 1 << 30
)

// Entry is what Get found. Payload and Meta have passed the digest.
type Entry struct{ Payload, Meta []byte }

func (c *Cache) path(kind string, k Key) string {
	return filepath.Join(c.dir, kind+"-"+k.String()+suffix)
}

// Get reads an entry. kind is a short word that is part of the file's name.
// The error is ErrMiss where there is none, ErrDamaged, with what is wrong,
// where it cannot be used.
func (c *Cache) Get(kind string, k Key) (*Entry, error) {
	path := c.path(kind, k)
	f, err := files.OpenPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrMiss
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", filepath.Base(path), ErrDamaged, err)
	}
	defer f.Close()
	all, err := io.ReadAll(io.LimitReader(f, maxEntry))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", filepath.Base(path), ErrDamaged, err)
	}
	payload, meta, err := open(all, k)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", filepath.Base(path), ErrDamaged, err)
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // for the order of removal; a read-only folder may refuse
	return &Entry{payload, meta}, nil
}

func seal(payload, meta []byte, k Key) []byte {
	b := make([]byte, 0, len(payload)+len(meta)+trailer)
	b = append(append(b, payload...), meta...)
	h := sha256.New()
	h.Write(k[:])
	h.Write(b)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(payload)))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(meta)))
	return h.Sum(b)
}

func open(all []byte, k Key) (payload, meta []byte, err error) {
	if len(all) < trailer {
		return nil, nil, fmt.Errorf("%d bytes are less than a trailer", len(all))
	}
	body, end := all[:len(all)-trailer], all[len(all)-trailer:]
	if !bytes.HasPrefix(end, []byte(magic)) {
		return nil, nil, errors.New("no trailer at its end")
	}
	end = end[len(magic):]
	p, m := binary.LittleEndian.Uint64(end), binary.LittleEndian.Uint64(end[8:])
	if n := uint64(len(body)); p > n || m != n-p {
		return nil, nil, errors.New("its lengths do not add up")
	}
	h := sha256.New()
	h.Write(k[:])
	h.Write(body)
	if !bytes.Equal(h.Sum(nil), end[16:]) {
		return nil, nil, errors.New("its digest does not match")
	}
	return body[:p], body[p:], nil
}

// Put writes an entry, replacing one that is there, and removes the entries
// longest unused while the limit is exceeded. Each process that writes looks at
// the folder again after a slack of bytes, by which it may exceed the limit
// meanwhile: looking at thousands of entries takes as long as making one.
func (c *Cache) Put(kind string, k Key, payload, meta []byte) error {
	path := c.path(kind, k)
	// What is lost with the power is found damaged, and made again.
	how := files.Options{Mode: 0o600, Unsynced: true, Unfinished: unfinished}
	sealed := seal(payload, meta, k)
	if err := files.Write(path, sealed, how); err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.room -= int64(len(sealed)); c.room < 0 {
		c.room = c.shrink(path)
	}
	return nil
}

// Remove takes an entry away.
func (c *Cache) Remove(kind string, k Key) error {
	if err := os.Remove(c.path(kind, k)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cache: %w", err)
	}
	return nil
}

// Lock keeps other processes, and other goroutines, from making the same
// entry; whoever gets it looks again whether the entry is there. Where the
// folder cannot hold locks it does nothing: two may then do the same work.
func (c *Cache) Lock(ctx context.Context, k Key) (unlock func(), err error) {
	unlock, err = files.Lock(ctx, filepath.Join(c.dir, fmt.Sprintf("lock-%02x", k[0])), nil)
	switch {
	case err == nil:
		return unlock, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return func() {}, nil
}

// Item is one entry of the folder.
type Item struct {
	Name  string // file name
	Kind  string
	Bytes int64
	Used  time.Time
}

// Status describes the folder.
type Status struct {
	Dir   string
	Items []Item // longest unused first
	Bytes int64
	Limit int64
}

// Status lists the entries.
func (c *Cache) Status() (Status, error) {
	s := Status{Dir: c.dir, Limit: c.limit}
	list, err := os.ReadDir(c.dir)
	if err != nil {
		return s, fmt.Errorf("cache: %w", err)
	}
	for _, e := range list {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(e.Name(), suffix) {
			continue // gone meanwhile, or not an entry
		}
		kind, _, _ := strings.Cut(e.Name(), "-")
		s.Items = append(s.Items, Item{e.Name(), kind, info.Size(), info.ModTime()})
		s.Bytes += info.Size()
	}
	sort.Slice(s.Items, func(i, j int) bool { return s.Items[i].Used.Before(s.Items[j].Used) })
	return s, nil
}

// slack is how far below the limit a folder is brought that exceeds it, and how
// much is written before it is looked at again.
func (c *Cache) slack() int64 { return c.limit / 32 }

// shrink removes entries other than the one at keep, the longest unused first, where
// the limit is exceeded, and returns how much may be written before it is to be called
// again.
func (c *Cache) shrink(keep string) (room int64) {
	_, all, err := Measure(c.dir)
	if err == nil && all > c.limit {
		all, err = c.remove(keep)
	}
	if err != nil {
		return 0
	}
	return min(c.slack(), c.limit-all)
}

// remove brings the entries to the slack below the limit, and returns what is left.
func (c *Cache) remove(keep string) (left int64, err error) {
	s, err := c.Status()
	if err != nil {
		return 0, err
	}
	for _, it := range s.Items {
		if s.Bytes <= c.limit-c.slack() {
			break
		}
		if path := filepath.Join(c.dir, it.Name); path != keep && os.Remove(path) == nil {
			s.Bytes -= it.Bytes
		}
	}
	return s.Bytes, nil
}

// Clear removes all entries and what interrupted writers left, and says how
// many entries and bytes that were. Nothing else in the folder is touched.
func (c *Cache) Clear() (entries int, bytes int64, err error) {
	s, err := c.Status()
	if err != nil {
		return 0, 0, err
	}
	for _, it := range s.Items {
		if e := os.Remove(filepath.Join(c.dir, it.Name)); e == nil {
			entries++
			bytes += it.Bytes
		} else if !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	left, _ := filepath.Glob(filepath.Join(c.dir, unfinished))
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	if err != nil {
		err = fmt.Errorf("cache: %w", err)
	}
	return entries, bytes, err
}
