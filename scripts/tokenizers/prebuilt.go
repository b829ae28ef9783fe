package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"time"
)

// maxLibrary bounds what an archive may hold; the library has 50 MB.
const maxLibrary = 1 << 30

// fetch brings the release's prebuilt library into parts and returns its path.
// A host that says nothing for j.patience is given up.
func (j *job) fetch(ctx context.Context, parts string) (string, error) {
	url := fmt.Sprintf("%s/%s/libtokenizers.%s.tar.gz", j.releases, j.module.Version, releasePlatform())
	dir := filepath.Join(parts, "prebuilt")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lib := filepath.Join(dir, library)
	j.meter.Say("tokenizers: fetching the prebuilt library (about 15 MB) from %s", url)
	if err := j.download(ctx, url, lib); err != nil {
		return "", fmt.Errorf("no prebuilt library: %w", err)
	}
	return lib, nil
}

// releasePlatform is what the release's archives call this platform.
func releasePlatform() string {
	if runtime.GOOS == "darwin" && runtime.GOARCH == "amd64" {
		return "darwin-x86_64"
	}
	return runtime.GOOS + "-" + runtime.GOARCH
}

func (j *job) download(ctx context.Context, url, lib string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(j.patience, func() {
		cancel(fmt.Errorf("no answer for %v", j.patience))
	})
	defer silence.Stop()
	err := j.get(ctx, url, lib, func() { silence.Reset(j.patience) })
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return fmt.Errorf("%s: %w", url, cause)
	}
	return err
}

// get downloads and unpacks; heard is called for every piece that arrives.
func (j *job) get(ctx context.Context, url, lib string, heard func()) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	step := j.meter.Start("tokenizers: prebuilt library", resp.ContentLength)
	err = unpack(lib, io.TeeReader(resp.Body, writerFunc(func(p []byte) (int, error) {
		heard()
		return step.Write(p)
	})))
	step.Done(err)
	if err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	return nil
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// unpack writes the library out of the tar.gz that r gives.
func unpack(lib string, r io.Reader) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	t := tar.NewReader(z)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("the archive has no %s", library)
		}
		if err != nil {
			return err
		}
		if path.Base(h.Name) != library || h.Typeflag != tar.TypeReg {
			continue
		}
		if h.Size > maxLibrary {
			return fmt.Errorf("%s in the archive has %d bytes; at most %d are accepted", library, h.Size, maxLibrary)
		}
		if err := writeFile(lib, t); err != nil {
			return err
		}
		// gzip's checksum stands at the end.
		_, err = io.Copy(io.Discard, z)
		return err
	}
}

func writeFile(name string, r io.Reader) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}
