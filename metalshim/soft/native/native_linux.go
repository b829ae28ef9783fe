//go:build linux && (amd64 || arm64)

package native

import (
	"crypto/sha256"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"github.com/introgen/introgen/metalshim/soft/native/object"
)

// Runtime is the loaded runtime. It stays loaded: its signal handler does.
type Runtime struct {
	create, destroy, run, stop, progress, at uintptr
}

// mathLibrary makes the C library's math functions visible to kernels, which
// are linked against nothing.
var mathLibrary = sync.OnceValue(func() error {
	_, err := purego.Dlopen("libm.so.6", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	return err
})

// Memory is a file in memory that holds b. It has no name, so that it goes
// away with the process, however that ends.
func Memory(b []byte) (*os.File, error) {
	const exec = 0x10 // MFD_EXEC, which kernels before 6.3 do not know
	fd, err := unix.MemfdCreate("introgen", unix.MFD_CLOEXEC|exec)
	if err != nil {
		fd, err = unix.MemfdCreate("introgen", unix.MFD_CLOEXEC)
	}
	if err != nil {
		return nil, fmt.Errorf("file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "memory")
	if _, err := f.Write(b); err != nil {
		f.Close()
		return nil, fmt.Errorf("file in memory: %w", err)
	}
	return f, nil
}

// external is the address of a function of the C library or of libm: all that
// compiled code needs and does not bring is in the process already.
func external(name string) (uint64, error) {
	address, err := purego.Dlsym(purego.RTLD_DEFAULT, name)
	return uint64(address), err
}

// loaded are the runtimes of this process, by their code.
var loaded = struct {
	sync.Mutex
	by map[[sha256.Size]byte]*Runtime
}{by: map[[sha256.Size]byte]*Runtime{}}

// Load loads the runtime from an object file.
func Load(code []byte) (*Runtime, error) {
	if err := mathLibrary(); err != nil {
		return nil, fmt.Errorf("soft metal runtime: %w", err)
	}
	loaded.Lock()
	defer loaded.Unlock()
	digest := sha256.Sum256(code)
	if r := loaded.by[digest]; r != nil {
		return r, nil
	}
	image, err := object.Load(code, external)
	if err != nil {
		return nil, fmt.Errorf("soft metal runtime: %w", err)
	}
	r := &Runtime{}
	var check uintptr
	for _, s := range []struct {
		name string
		to   *uintptr
	}{{"sm_create", &r.create}, {"sm_destroy", &r.destroy}, {"sm_run", &r.run}, {"sm_stop", &r.stop},
		{"sm_progress", &r.progress}, {"sm_at", &r.at}, {"sm_layout", &check}} {
		if *s.to, err = image.Symbol(s.name, 1); err != nil {
			image.Unload()
			return nil, fmt.Errorf("soft metal runtime: %w", err)
		}
	}
	if got, _, _ := purego.SyscallN(check); uint64(got) != layout {
		image.Unload()
		return nil, fmt.Errorf("soft metal runtime: its structures are laid out as %#x, not %#x", got, layout)
	}
	loaded.by[digest] = r
	return r, nil
}

// LoadKernel loads a pipeline from an object file.
func LoadKernel(code []byte) (*Kernel, error) {
	if err := mathLibrary(); err != nil {
		return nil, err
	}
	image, err := object.Load(code, external)
	if err != nil {
		return nil, err
	}
	k := &Kernel{unload: image.Unload}
	var frame, static uintptr
	for _, s := range []struct {
		name string
		size uint64
		to   *uintptr
	}{{"msl_sgk", 1, &k.Fn}, {"msl_frame_size", 8, &frame}, {"msl_tgs_size", 8, &static}} {
		if *s.to, err = image.Symbol(s.name, s.size); err != nil {
			k.Unload()
			return nil, err
		}
	}
	k.Frame, k.StaticSize = word(frame), word(static)
	return k, nil
}

// Unload frees the kernel's code. No command buffer may need it any more.
func (k *Kernel) Unload() { k.unload() }

// word reads 8 bytes at an address of the C side.
func word(address uintptr) uint64 {
	return **(**uint64)(unsafe.Pointer(&address))
}
