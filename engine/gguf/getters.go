package gguf

import (
	"fmt"
	"math"
)

// get finds key and reads it with read, whose ok says that the kind fits.
func get[T any](f *File, key, want string, read func(Value) (T, bool)) (v T, ok bool, err error) {
	raw, ok := f.Get(key)
	if !ok {
		return v, false, nil
	}
	err = Fault(func() error {
		var fits bool
		if v, fits = read(raw); !fits {
			return fmt.Errorf("gguf %s: metadata %s is %v; it must be %s", f.Path, key, raw.kind, want)
		}
		return nil
	})
	return v, true, err
}

// Uint32 returns the integer under key. ok is false, and err nil, when the file
// does not have the key; a value of another type, negative or too large is an
// error. So for the getters below.
func (f *File) Uint32(key string) (v uint32, ok bool, err error) {
	return get(f, key, "an integer from 0 to 4294967295", func(v Value) (uint32, bool) {
		u, ok := v.Uint64()
		return uint32(u), ok && u <= math.MaxUint32
	})
}

// Float32 returns the F32 or F64 under key.
func (f *File) Float32(key string) (v float32, ok bool, err error) {
	return get(f, key, "F32 or F64", func(v Value) (float32, bool) {
		x, ok := v.Float64()
		return float32(x), ok
	})
}

// String returns a copy of the string under key.
func (f *File) String(key string) (v string, ok bool, err error) {
	return get(f, key, "a string", Value.Str)
}

// Bool returns the bool under key.
func (f *File) Bool(key string) (v, ok bool, err error) {
	return get(f, key, "a bool", Value.Bool)
}
