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

// objects holds the files of the shared objects that are loaded. The dynamic
// linker knows an object by its name, and that of a file in memory is its
// number: if the file were closed first, be it by the collector because nobody
// unloaded the object, the next file would get the number, and the linker would
// answer with the old code.
var objects = struct {
	sync.Mutex
	files map[uintptr]*os.File
}{files: map[uintptr]*os.File{}}

// open loads a shared object from memory. The bytes that were checked are the
// bytes that run: nothing on disk can change under them.
func open(code []byte) (handle uintptr, err error) {
	file, err := Memory(code)
	if err != nil {
		return 0, err
	}
	handle, err = purego.Dlopen(fmt.Sprintf("/proc/self/fd/%d", file.Fd()), purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		file.Close()
		return 0, err
	}
	objects.Lock()
	objects.files[handle] = file
	objects.Unlock()
	return handle, nil
}

// unload is the reverse of open.
func unload(handle uintptr) {
	purego.Dlclose(handle)
	objects.Lock()
	defer objects.Unlock()
	objects.files[handle].Close()
	delete(objects.files, handle)
}

// loaded are the runtimes of this process, by their code.
var loaded = struct {
	sync.Mutex
	by map[[sha256.Size]byte]*Runtime
}{by: map[[sha256.Size]byte]*Runtime{}}

// Load loads the runtime from the text of a shared object.
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
	h, err := open(code)
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
		if *s.to, err = purego.Dlsym(h, s.name); err != nil {
			return nil, fmt.Errorf("soft metal runtime: %w", err)
		}
	}
	if got, _, _ := purego.SyscallN(check); uint64(got) != layout {
		return nil, fmt.Errorf("soft metal runtime: its structures are laid out as %#x, not %#x", got, layout)
	}
	loaded.by[digest] = r
	return r, nil
}

// LoadKernel loads a pipeline from the text of a shared object.
func LoadKernel(code []byte) (*Kernel, error) {
	h, err := open(code)
	if err != nil {
		return nil, err
	}
	k := &Kernel{handle: h}
	var frame, static uintptr
	for _, s := range []struct {
		name string
		to   *uintptr
	}{{"msl_sgk", &k.Fn}, {"msl_frame_size", &frame}, {"msl_tgs_size", &static}} {
		if *s.to, err = purego.Dlsym(h, s.name); err != nil {
			k.Unload()
			return nil, err
		}
	}
	k.Frame, k.StaticSize = word(frame), word(static)
	return k, nil
}

// Unload frees the kernel's code. No command buffer may need it any more.
func (k *Kernel) Unload() {
	if k.handle != 0 {
		unload(k.handle)
		k.handle = 0
	}
}

// word reads 8 bytes at an address of the C side.
func word(address uintptr) uint64 {
	return **(**uint64)(unsafe.Pointer(&address))
}
