package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/system/terminal"
)

// fetch downloads f to dst and returns the SHA-256 that the hub states, which
// the bytes have. check, where not nil, looks at the whole file before it gets
// its name. A download that breaks off leaves a hidden part file beside dst,
// where the next fetch of the same bytes goes on.
func (c *hubClient) fetch(ctx context.Context, f hubFile, dst string, check func(path string) error) (string, error) {
	d := &download{client: c, file: f, dst: dst, sum: sha256.New()}
	defer d.close()
	if err := d.resume(); err != nil {
		return "", err
	}
	d.step = c.meter.Start(f.name, f.size)
	d.step.Set(d.have)
	err := d.run(ctx)
	if err == nil {
		err = d.finish(check)
	}
	d.step.Done(err)
	if err != nil {
		return "", err
	}
	return d.digest, nil
}

// download is one file under way.
type download struct {
	client *hubClient
	file   hubFile
	dst    string

	digest  string    // that the hub states, lower-case hex
	part    partFile  // nil until the digest is known
	have    int64     // bytes in part
	sum     hash.Hash // of those bytes
	step    *terminal.Step
	reached bool // the hub has answered once
}

// run brings all bytes into the part file, over as many attempts as make
// progress, and a few that do not.
func (d *download) run(ctx context.Context) error {
	pause := cmp.Or(d.client.pause, time.Second)
	wait, failed := pause, 0
	for d.have < d.file.size {
		before := d.have
		err := d.attempt(ctx)
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			return d.kept(fmt.Errorf("interrupted: %w", context.Cause(ctx)))
		}
		if !d.passing(err) {
			return d.kept(err)
		}
		if d.have > before {
			wait, failed = pause, 0
		}
		if failed++; failed > maxRetries {
			return d.kept(fmt.Errorf("given up after %d attempts without a new byte: %w", failed, err))
		}
		d.client.meter.Say("%s: %v; trying again in %v", d.file.name, err, wait)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait *= 2
	}
	return nil
}

// passing says whether the same request may succeed a little later.
func (d *download) passing(err error) bool {
	var status *statusError
	var cut *cutError
	switch {
	case errors.As(err, &status):
		return status.passing
	case errors.As(err, &cut):
		return true
	case errors.Is(err, errUnreachable):
		return d.reached // a hub that never answered is given up at once
	}
	return false
}

// kept adds to err what lies on disk for the next fetch.
func (d *download) kept(err error) error {
	if d.part == nil || d.have == 0 {
		return err
	}
	return fmt.Errorf("%w; %s of %s are kept and the same command goes on from there",
		err, figures.Size(d.have), figures.Size(d.file.size))
}

// cutError is a body that ended early or stood still.
type cutError struct{ err error }

func (e *cutError) Error() string { return "connection cut: " + reason(e.err) }
func (e *cutError) Unwrap() error { return e.err }

// attempt makes one request and takes as many bytes as it gives.
func (d *download) attempt(parent context.Context) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	reach := cmp.Or(d.client.reach, 9*time.Second)
	timer := time.AfterFunc(reach, func() { cancel(fmt.Errorf("no answer within %v", reach)) })
	defer timer.Stop()

	from := d.have
	a, err := d.client.open(ctx, d.file, from)
	if err != nil {
		return err
	}
	timer.Stop()
	defer a.Body.Close()
	d.reached = true
	if a.StatusCode == http.StatusRequestedRangeNotSatisfiable {
		return d.restart(fmt.Errorf("the hub cannot go on from byte %d", from))
	}
	if err := refusal(d.file, a.Response, d.client.token != ""); err != nil {
		return err
	}
	if err := d.agree(a, from); err != nil {
		return err
	}
	return d.take(ctx, cancel, a.Body)
}

// agree checks that the answer is about the file that was asked for and the
// bytes already there, before one of its bytes is taken and before one of those
// is given up: anything may answer in a hub's place.
func (d *download) agree(a *answer, from int64) error {
	if a.digest == "" {
		return fmt.Errorf("%w: the hub states no SHA-256 of %s, so that it could not be checked", errNotAsked, d.file.name)
	}
	knowsRanges := a.StatusCode == http.StatusPartialContent
	size := a.ContentLength
	if knowsRanges {
		var first, last int64
		if n, _ := fmt.Sscanf(a.Header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &size); n != 3 || first != from {
			return d.restart(fmt.Errorf("the hub answers bytes %d- with %q", from, a.Header.Get("Content-Range")))
		}
	}
	switch {
	case size >= 0 && size != d.file.size:
		return fmt.Errorf("%w: %s has %d bytes there; expected %d", errNotAsked, d.file.name, size, d.file.size)
	case d.digest != "" && d.digest != a.digest:
		return d.restart(errors.New("the hub's file has changed since the download began"))
	case d.part == nil:
		d.digest = a.digest
		return d.openPart()
	case from > 0 && !knowsRanges:
		return d.truncate()
	}
	return nil
}

// restart drops what is there; the error makes run ask again from byte 0.
func (d *download) restart(why error) error {
	if d.have == 0 && d.digest == "" {
		return why
	}
	if err := d.drop(); err != nil {
		return err
	}
	return &cutError{why}
}

// take copies the body to the part file, and cuts the line when no byte has
// come for the stall time.
func (d *download) take(ctx context.Context, cancel context.CancelCauseFunc, body io.Reader) error {
	stall := cmp.Or(d.client.stall, 30*time.Second)
	watch := time.AfterFunc(stall, func() { cancel(fmt.Errorf("no byte for %v", stall)) })
	defer watch.Stop()
	buf := make([]byte, 256<<10)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			watch.Reset(stall)
			if over := d.have + int64(n) - d.file.size; over > 0 {
				err := fmt.Errorf("%w: %s is longer than %d bytes", errNotAsked, d.file.name, d.file.size)
				return errors.Join(err, d.drop())
			}
			if err := d.write(buf[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) && d.have == d.file.size {
			return nil
		}
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			} else if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return &cutError{err}
		}
	}
}

// finish checks the bytes and gives them their name. Bytes that are not the
// right ones are removed: going on from them could never succeed.
func (d *download) finish(check func(path string) error) error {
	got := hex.EncodeToString(d.sum.Sum(nil))
	var err error
	if got != d.digest {
		err = fmt.Errorf("%w: %s has SHA-256 %s; the hub states %s", errNotAsked, d.file.name, got, d.digest)
	} else if check != nil {
		err = check(d.partPath())
	}
	if err != nil {
		return errors.Join(err, d.drop())
	}
	if err := d.part.Sync(); err != nil {
		return fmt.Errorf("write %s: %w", d.partPath(), err)
	}
	if err := os.Rename(d.partPath(), d.dst); err != nil {
		return fmt.Errorf("finish %s: %w", d.dst, err)
	}
	return nil
}
