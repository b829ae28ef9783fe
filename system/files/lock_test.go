package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := Lock(t.Context(), path, func() { t.Error("the first one waits") })
	if err != nil {
		t.Fatal(err)
	}

	waits := 0
	ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
	defer cancel()
	if _, err := Lock(ctx, path, func() { waits++ }); !errors.Is(err, context.DeadlineExceeded) || waits != 1 {
		t.Errorf("the second one: %v after being told to wait %d times; want a deadline after once", err, waits)
	}

	time.AfterFunc(50*time.Millisecond, unlock)
	again, err := Lock(t.Context(), path, func() {})
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	again()
}

func TestLockErrors(t *testing.T) {
	if _, err := Lock(t.Context(), filepath.Join(t.TempDir(), "no", "lock"), func() {}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in no folder: %v", err)
	}
}
