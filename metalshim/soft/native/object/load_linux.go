package object

import (
	"debug/elf"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Image is an object in memory, ready to run.
type Image struct {
	object *Object
	memory []byte
}

// machines are those of this package, by Go's names.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// Load puts an object file into memory of its own. Nothing of it can be written
// and run at once: it is written first, and only then made executable, when the
// system also makes the processors see new instructions. external finds what the
// object does not define itself.
func Load(code []byte, external func(name string) (uint64, error)) (*Image, error) {
	o, err := Parse(code, uint64(os.Getpagesize()))
	if err != nil {
		return nil, err
	}
	if o.machine != machines[runtime.GOARCH] {
		return nil, fmt.Errorf("object file: it is for %v, this process is %s", o.machine, runtime.GOARCH)
	}
	if o.Size() == 0 {
		return nil, fmt.Errorf("object file: it is empty")
	}
	memory, err := unix.Mmap(-1, 0, int(o.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("object file: %d bytes of memory: %w", o.Size(), err)
	}
	i := &Image{o, memory}
	if err := o.Place(memory, uint64(i.base()), external); err != nil {
		i.Unload()
		return nil, err
	}
	for kind, access := range [kinds]int{executable: unix.PROT_READ | unix.PROT_EXEC, readOnly: unix.PROT_READ, writable: unix.PROT_READ | unix.PROT_WRITE} {
		s := o.kinds[kind]
		if s.start == s.end {
			continue
		}
		if err := unix.Mprotect(memory[s.start:s.end], access); err != nil {
			i.Unload()
			return nil, fmt.Errorf("object file: access to its memory: %w", err)
		}
	}
	return i, nil
}

func (i *Image) base() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(i.memory))) }

// Symbol is the address of something that the object defines for others, of at
// least size bytes.
func (i *Image) Symbol(name string, size uint64) (uintptr, error) {
	offset, err := i.object.Symbol(name, size)
	return i.base() + uintptr(offset), err
}

// Unload gives the memory back. Nothing of it may run or be read any more.
func (i *Image) Unload() {
	if i.memory != nil {
		_ = unix.Munmap(i.memory) // it is what Mmap gave
		i.memory = nil
	}
}
