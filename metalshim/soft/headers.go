package soft

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/soft/clang"
	"github.com/introgen/introgen/metalshim/soft/native"
)

// metalHeaders are the headers of Metal's standard library (Metal Shading
// Language Specification 3.1; metal_logging is of 3.2). Their declarations are
// always there, so that the files are empty.
var metalHeaders = []string{"metal_array", "metal_assert", "metal_atomic", "metal_cast", "metal_common", "metal_compute",
	"metal_config", "metal_extended_vector", "metal_geometric", "metal_graphics", "metal_integer", "metal_limits", "metal_logging",
	"metal_math", "metal_matrix", "metal_numeric", "metal_pack", "metal_packed_vector", "metal_quadgroup", "metal_relational",
	"metal_simdgroup", "metal_simdgroup_matrix", "metal_stdlib", "metal_texture", "metal_type_traits", "metal_types",
	"metal_uniform", "metal_utility", "metal_vector"}

// headerFolder is where the compiler of a source finds them. There is no such
// folder outside of the overlay.
const headerFolder = "/metal"

// sealedArgs are clang's arguments by which the overlay, which it finds as
// clang.FilePath(0), takes the place of the system's files.
var sealedArgs = []string{"-ivfsoverlay", clang.FilePath(0), "-isystem", headerFolder}

// overlay is the file system of a compiler that reads a user's source: the
// headers, all of which are clang.FilePath(1), and nothing else. So an #include,
// #import, #embed or __has_include of any other file, by whatever path, finds
// nothing, and what a source compiles to hangs on its text alone.
var overlay = overlayWith()

// entry is a folder or a file of an overlay.
type entry struct {
	Type     string  `json:"type"`
	Name     string  `json:"name"`
	External string  `json:"external-contents,omitempty"`
	Contents []entry `json:"contents,omitempty"`
}

// folder is one of files that are all the same.
func folder(name, external string, files ...string) entry {
	e := entry{Type: "directory", Name: name}
	for _, f := range files {
		e.Contents = append(e.Contents, entry{Type: "file", Name: f, External: external})
	}
	return e
}

// overlayWith is overlay with more folders.
func overlayWith(more ...entry) string {
	empty := clang.FilePath(1)
	// Names and numbers alone: it cannot fail. JSON is YAML.
	b, _ := json.Marshal(map[string]any{
		"version": 0, "case-sensitive": "true", "use-external-names": "false", "redirecting-with": "redirect-only",
		"roots": append([]entry{folder(headerFolder, empty, metalHeaders...), folder(headerFolder+"/simd", empty, "simd.h")}, more...),
	})
	return string(b)
}

// runSealed is run for a user's source: the compiler sees no file but the
// standard library's headers.
func (d *Device) runSealed(ctx context.Context, args []string, text []byte) ([]byte, error) {
	return d.runOverlaid(ctx, overlay, args, text)
}

// runOverlaid is runSealed with an overlay, whose further files, from
// clang.FilePath(2) on, stay what they are.
func (d *Device) runOverlaid(ctx context.Context, overlay string, args []string, text []byte, more ...*os.File) ([]byte, error) {
	same := make([]*os.File, 0, 2+len(more))
	for _, content := range []string{overlay, ""} {
		f, err := d.constants.file(content)
		if err != nil {
			return nil, err
		}
		same = append(same, f)
	}
	return d.runWith(ctx, slices.Concat(sealedArgs, args), text, append(same, more...))
}

// constants are files in memory by their contents, made once: a compiler that
// stays knows them again.
type constants struct {
	mu sync.Mutex
	by map[string]*os.File
}

func (c *constants) file(content string) (*os.File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.by[content]; f != nil {
		return f, nil
	}
	f, err := native.Memory([]byte(content))
	if err != nil {
		return nil, err
	}
	if c.by == nil {
		c.by = map[string]*os.File{}
	}
	c.by[content] = f
	return f, nil
}

// close frees them. Nothing may be compiling any more.
func (c *constants) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.by {
		f.Close()
	}
	c.by = nil
}

// notFound is clang's message for a file that is not in the overlay.
var notFound = regexp.MustCompile(`^('.*' file not found)$`)

// explained are diagnostics of a source, with what to do about those whose
// reason is the driver's.
func explained(all []metalshim.Diagnostic) []metalshim.Diagnostic {
	for i := range all {
		g := &all[i]
		switch {
		case notFound.MatchString(g.Message):
			g.Message += ": a library is one text, which can include Metal's own headers alone, such as <metal_stdlib>; put the file's text in its place"
		case strings.Contains(g.Message, "-Wdate-time"):
			g.Message = "the date and the time cannot be asked for: what a source compiles to hangs on its text alone"
		case g.Message == "GNU-style inline assembly is disabled":
			g.Message = fmt.Sprintf("asm is no part of the Metal Shading Language (%s)", g.Message)
		}
	}
	return all
}
