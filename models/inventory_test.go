package models

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf/gguftest"
	"github.com/introgen/introgen/system/files"
)

func put(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

func states(entries []Entry) map[string]State {
	out := map[string]State{}
	for _, e := range entries {
		out[e.Name] = e.State
	}
	return out
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	entries, err := List(filepath.Join(dir, "absent"))
	if err != nil || len(entries) != 4 {
		t.Fatalf("List of no folder: %v, %v; want the four known files", entries, err)
	}
	for _, e := range entries {
		if e.State != Absent || e.Size == 0 || e.Detail == "" {
			t.Errorf("in no folder: %+v; want it absent, with the size and origin that it would have", e)
		}
	}

	standIn, _ := Lookup(StandIn)
	put(t, filepath.Join(dir, StandIn), standIn.Size)
	put(t, filepath.Join(dir, Source), 5)
	put(t, filepath.Join(dir, "mine.gguf"), 7)
	put(t, filepath.Join(dir, "notes.txt"), 7)
	put(t, filepath.Join(dir, ".x.gguf"), 7)
	if err := os.Mkdir(filepath.Join(dir, Experiment), 0o755); err != nil {
		t.Fatal(err)
	}
	entries, err = List(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]State{StandIn: Present, Source: WrongSize, Experiment: WrongSize, Gemma: Absent, "mine.gguf": Unknown}
	got := states(entries)
	for name, state := range want {
		if got[name] != state {
			t.Errorf("%s is %q; want %q", name, got[name], state)
		}
	}
	if len(got) != len(want) {
		t.Errorf("listed %v; want %v", got, want)
	}
	var b bytes.Buffer
	if err := WriteEntries(&b, entries); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"FILE", StandIn + "  144811072  present", "wrong size", "expected 98362432 bytes", "mine.gguf"} {
		if !strings.Contains(b.String(), s) {
			t.Errorf("the table does not say %q:\n%s", s, b.String())
		}
	}
}

func TestVerifyOfDamage(t *testing.T) {
	dir := t.TempDir()
	standIn, _ := Lookup(StandIn)
	put(t, filepath.Join(dir, StandIn), standIn.Size) // zeros
	put(t, filepath.Join(dir, Source), 5)
	entries, err := Verify(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]State{StandIn: Bad, Source: Bad, Experiment: Absent, Gemma: Absent}
	for name, state := range states(entries) {
		if want[name] != state {
			t.Errorf("%s is %q; want %q", name, state, want[name])
		}
	}
	if !strings.Contains(entries[0].Detail, "not a GGUF file") || !strings.Contains(entries[1].Detail, "5 bytes; expected 98362432") {
		t.Errorf("details %q and %q", entries[0].Detail, entries[1].Detail)
	}
	if _, err := Verify(t.Context(), dir, "mine.gguf"); err == nil || !strings.Contains(err.Error(), StandIn) {
		t.Errorf("Verify of an unknown file: error %v; want one that names the known ones", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Verify(ctx, dir); err == nil {
		t.Error("Verify went on after its context ended")
	}
}

// TestVerifyRealModel takes the real files, and one with a single bit changed.
func TestVerifyRealModel(t *testing.T) {
	path, err := Find(Source)
	if err != nil {
		t.Skipf("SKIP: needs the model file %s: %v", Source, err)
	}
	entries, err := Verify(t.Context(), filepath.Dir(path), Source)
	if err != nil || entries[0].State != Good || entries[0].Detail != "size, header and the project's SHA-256" {
		t.Fatalf("Verify: %+v, %v", entries, err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, Source), b, 0o644); err != nil {
		t.Fatal(err)
	}
	entries, err = Verify(t.Context(), dir, Source)
	if err != nil || entries[0].State != Bad || !strings.Contains(entries[0].Detail, "make setup") {
		t.Errorf("Verify with one bit changed: %+v, %v; want it bad", entries, err)
	}
}

// TestCompareWithTheHub checks a file whose digest only the hub knew.
func TestCompareWithTheHub(t *testing.T) {
	path := gguftest.File{
		KV:      []gguftest.KV{{Key: "general.name", Value: "x"}},
		Tensors: []gguftest.Tensor{{Name: "w", Dims: []uint64{8}, Data: gguftest.F32(1, 2, 3, 4, 5, 6, 7, 8)}},
	}.Write(t)
	k := Known{Name: "x.gguf", Keys: 1, Tensors: 1, DataOffset: 96}
	detail, err := compare(t.Context(), path, k)
	if err != nil || !strings.Contains(detail, "no digest is known") {
		t.Errorf("without a digest: %q, %v", detail, err)
	}
	sum, err := files.SHA256(t.Context(), path)
	if err == nil {
		err = WriteDigest(path, sum)
	}
	if err != nil {
		t.Fatal(err)
	}
	if detail, err := compare(t.Context(), path, k); err != nil || detail != "size, header and the hub's SHA-256" {
		t.Errorf("with the hub's digest: %q, %v", detail, err)
	}
	if err := WriteDigest(path, strings.Repeat("0", 64)); err != nil {
		t.Fatal(err)
	}
	if _, err := compare(t.Context(), path, k); err == nil || !strings.Contains(err.Error(), "the hub's is 0000") {
		t.Errorf("with another digest: %v", err)
	}
	k.Keys = 2
	if _, err := compare(t.Context(), path, k); err == nil || !strings.Contains(err.Error(), "1 keys, 1 tensors, data at 96; x.gguf has 2, 1 and 96") {
		t.Errorf("with another header: %v", err)
	}
}
