package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/introgen/introgen/system/files"
	"github.com/introgen/introgen/system/terminal"
)

// defaultEndpoint is the hub that is asked where HF_ENDPOINT is not set.
const defaultEndpoint = "https://huggingface.co"

const (
	maxHops    = 10
	maxRetries = 5 // in a row, each without a single new byte
)

// The kinds of failure that errors.Is tells apart.
var (
	errUnreachable = errors.New("hub unreachable")
	errNotAsked    = errors.New("not the file that was asked for")
)

// hubClient downloads files of model repositories from one Hugging Face style hub:
// resumable, checked against the digest that the hub states, and given up soon
// where the hub cannot be reached. The zero value of each field has a meaning.
type hubClient struct {
	endpoint string // "" is defaultEndpoint
	token    string // "" asks without one; it is sent to endpoint's host alone

	reach time.Duration // until the first headers of an attempt; 0 is 9 s
	stall time.Duration // without a byte before the line is cut; 0 is 30 s
	pause time.Duration // before the first retry, doubled for each; 0 is 1 s

	meter *terminal.Meter

	create func(path string) (partFile, error) // nil is openPart
}

// clientFromEnv returns a client for $HF_ENDPOINT with $HF_TOKEN.
func clientFromEnv() *hubClient {
	return &hubClient{endpoint: os.Getenv("HF_ENDPOINT"), token: os.Getenv("HF_TOKEN")}
}

// hubFile is what to get.
type hubFile struct {
	repository string // owner/name
	revision   string // branch, tag or commit; "" is main
	name       string // path inside the repository
	size       int64  // bytes that it must have
}

// address is the URL of f, and the endpoint's own URL to compare redirects with.
func (c *hubClient) address(f hubFile) (file, endpoint *url.URL, err error) {
	base := cmp.Or(c.endpoint, defaultEndpoint)
	endpoint, err = url.Parse(base)
	if err != nil || endpoint.Host == "" || (endpoint.Scheme != "https" && endpoint.Scheme != "http") {
		return nil, nil, fmt.Errorf("HF_ENDPOINT=%q is not an http or https address like %s", base, defaultEndpoint)
	}
	return endpoint.JoinPath(f.repository, "resolve", cmp.Or(f.revision, "main"), f.name), endpoint, nil
}

// answer is the response that carries the file's bytes, with what the hub said
// about them on the way there.
type answer struct {
	*http.Response
	digest string // lower-case hex SHA-256, or "" where none was stated
}

// open asks for f from byte `from` on, following redirects itself: the hub
// states the digest on its own answer, which redirects to a store that does not
// know it, and the token must not travel there.
func (c *hubClient) open(ctx context.Context, f hubFile, from int64) (*answer, error) {
	at, endpoint, err := c.address(f)
	if err != nil {
		return nil, err
	}
	digest := ""
	for range maxHops {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
		if err != nil {
			return nil, fmt.Errorf("ask %s: %w", at.Host, err)
		}
		req.Header.Set("User-Agent", "introgen")
		req.Header.Set("Accept-Encoding", "identity") // sizes and ranges count the file's own bytes
		if from > 0 {
			req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
		}
		if c.token != "" && at.Scheme == endpoint.Scheme && at.Host == endpoint.Host {
			req.Header.Set("Authorization", "Bearer "+c.token)
		}
		resp, err := shared.RoundTrip(req)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return nil, fmt.Errorf("%w: %s: %s", errUnreachable, at.Host, reason(err))
		}
		if at.Host == endpoint.Host {
			if d := statedDigest(resp.Header); d != "" {
				digest = d
			}
		}
		next, err := redirect(at, resp)
		if err != nil {
			resp.Body.Close()
			return nil, err
		}
		if next == nil {
			return &answer{resp, digest}, nil
		}
		resp.Body.Close()
		at = next
	}
	return nil, fmt.Errorf("%s redirects more than %d times", endpoint.Host, maxHops)
}

// redirect returns where resp sends the client, or nil where it is no redirect.
func redirect(at *url.URL, resp *http.Response) (*url.URL, error) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	next, err := at.Parse(resp.Header.Get("Location"))
	if err != nil || next.Host == "" {
		return nil, fmt.Errorf("%s redirects to %q, which is no address", at.Host, resp.Header.Get("Location"))
	}
	if next.Scheme != "https" && next.Scheme != at.Scheme {
		return nil, fmt.Errorf("%s redirects to %s://%s: refused, since it is less safe than %s", at.Host, next.Scheme, next.Host, at.Scheme)
	}
	return next, nil
}

// statedDigest is the SHA-256 that the hub states of a large file: its ETag, or
// X-Linked-ETag where the answer is a redirect to the store.
// https://huggingface.co/docs/huggingface_hub/package_reference/file_download
func statedDigest(h http.Header) string {
	for _, key := range []string{"X-Linked-Etag", "Etag"} {
		tag := strings.ToLower(strings.Trim(strings.TrimPrefix(h.Get(key), "W/"), `"`))
		if files.IsSHA256(tag) {
			return tag
		}
	}
	return ""
}

// shared is the transport of every client: the default one's proxies and
// timeouts, without the compression that would hide a file's size.
var shared = func() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true
	return t
}()

// refusal turns a status that carries no file into an error that says what to
// do, or returns nil for one that does.
func refusal(f hubFile, resp *http.Response, tokenSent bool) error {
	where := fmt.Sprintf("%s: %s of %s", resp.Request.URL.Host, f.name, f.repository)
	switch code := resp.StatusCode; code {
	case http.StatusOK, http.StatusPartialContent:
		return nil
	case http.StatusUnauthorized, http.StatusForbidden:
		if tokenSent {
			return fmt.Errorf("%s: %s: HF_TOKEN does not open it", where, resp.Status)
		}
		return fmt.Errorf("%s: %s: set HF_TOKEN to a token that may read it", where, resp.Status)
	case http.StatusNotFound:
		return fmt.Errorf("%s: %s: HF_ENDPOINT names a hub that does not have it", where, resp.Status)
	default:
		return &statusError{where: where, status: resp.Status,
			passing: code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= 500}
	}
}

// statusError is an answer other than those that refusal knows.
type statusError struct {
	where, status string
	passing       bool // worth asking again
}

func (e *statusError) Error() string { return e.where + ": " + e.status }

// reason shortens the errors that a network gives for people: where the name or
// the dial failed is what they can act on.
func reason(err error) string {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return "its name cannot be looked up"
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return "no connection: " + op.Err.Error()
	}
	return err.Error()
}
