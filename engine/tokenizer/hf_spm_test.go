//go:build hf && cgo

package tokenizer

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/engine/gguf"
)

// TestHFSPM: the library's BPE gives the same ids, where no two scores are equal.
func TestHFSPM(t *testing.T) {
	f, err := gguf.Open(filepath.Join(spmFolder, "prefix.gguf"), gguf.MMap)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, err := New(f, "hf")
	if err != nil || h.Name() != "hf" || Go(h).Name() != "go" {
		t.Fatalf("%v, %v", h, err)
	}
	bad := 0
	for _, text := range append(spmTexts(), "<s>a</s>b", "</s> a") {
		want, err1 := Go(h).Encode(text)
		got, err2 := h.Encode(text)
		if err1 != nil || err2 != nil || !slices.Equal(got, want) {
			if bad++; bad <= 10 {
				t.Errorf("%q:\n  go %v, %v\n  hf %v, %v", text, want, err1, got, err2)
			}
		}
	}
	t.Logf("%d differ", bad)
	if _, err := h.Encode("a\x00"); err == nil || !strings.Contains(err.Error(), "NUL byte at offset 1") {
		t.Error(err)
	}
}

func TestHFSPMRefuses(t *testing.T) {
	kv := smallSPM()
	kv[keyTypes] = []int32{2, 3, 3, 6, 6, 1, 1, 1, 1, 5, 4}
	if _, err := New(openKV(t, kv), "hf"); err == nil || !strings.Contains(err.Error(), "type 5 (unused)") {
		t.Error(err)
	}
}
