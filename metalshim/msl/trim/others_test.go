package trim

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim/msl"
)

// envSources names a folder of other people's sources.
const envSources = "INTROGEN_TRIM_SOURCES"

// TestOthersSources: of each source in a folder, a kernel is what clang's
// preprocessor finds in the whole, or the source stays as it is.
func TestOthersSources(t *testing.T) {
	dir := os.Getenv(envSources)
	if dir == "" {
		t.Skipf("SKIP: needs %s, a folder with .metal files", envSources)
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".metal" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := string(b)
		o, err := msl.OutlineOf(text)
		if err != nil {
			r, err2 := Of(path, text, nil)
			if err2 != nil || r.Text != text {
				t.Errorf("%s: %v; and then %v", path, err, err2)
			}
			t.Logf("%s: left: %v", path, err)
			return nil
		}
		names := newTrimmer(o, nil).kernels()
		if len(names) == 0 {
			t.Logf("%s: no kernels", path)
			return nil
		}
		for _, keep := range [][]string{{names[0]}, {names[len(names)/2]}, {names[len(names)-1]}} {
			r, err := Of(path, text, keep)
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if again, err := Trim(path, r.Text, keep); err != nil || again != r.Text {
				t.Errorf("%s trimmed again is another (%v)", path, err)
			}
			for name, macros := range compilers {
				whole, part := declarations(t, expanded(t, text, macros...)), declarations(t, expanded(t, r.Text, macros...))
				for _, p := range whole {
					if len(part) > 0 && part[0].Text == p.Text {
						part = part[1:]
					} else if slices.Contains(keep, p.Kernel) {
						t.Errorf("%s: MSL %s has lost %.200s", path, name, p.Text)
					}
				}
				if len(part) > 0 {
					t.Errorf("%s: MSL %s has what the whole has not: %.200s", path, name, part[0].Text)
				}
			}
			var stays []string
			for _, s := range r.Stays {
				stays = append(stays, s.Why)
			}
			t.Logf("%s: %d of %d kernels, %d of %d bytes; %q", filepath.Base(path), len(r.Kernels), len(names), len(squeeze(r.Text)), len(text), strings.Join(slices.Compact(stays), "; "))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
