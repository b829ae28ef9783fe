package apple

import (
	"errors"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/introgen/introgen/metalshim"
)

// TestLiveEncodings asks the objects themselves for the types of their
// methods: Apple's on a Mac.
func TestLiveEncodings(t *testing.T) {
	d := open(t, Options{})
	l := compile(t, d)
	p := must(l.NewPipeline(t.Context(), "add", nil))(t)
	b := must(d.NewBuffer(4, metalshim.Shared))(t)
	q := must(d.NewQueue())(t)
	c, other := must(q.NewCommandBuffer())(t), must(q.NewCommandBuffer())(t)
	blitting := must(other.NewBlit())(t)
	opened := must(d.NewArchive(filepath.Join(t.TempDir(), "a")))(t)
	e := must(c.NewEncoder(metalshim.Concurrent))(t)
	defer d.a.Push().Pop()
	text := must(d.a.NewString("x"))(t)
	options, values, desc := d.a.newOptions(), d.a.newValues(), d.a.newPipelineDescriptor()
	archiveDesc := d.a.newArchiveDescriptor()
	dict := must(d.a.NewDictionary(nil))(t)
	live := map[string][]id{
		"MTLDevice": {d.d.o}, "MTLLibrary": {l.(*library).l.o}, "MTLComputePipelineState": {p.(*pipeline).p.o},
		"MTLBuffer": {b.(*buffer).b.o}, "MTLCommandQueue": {q.(*queue).q.o}, "MTLCommandBuffer": {c.(*commands).cb.o},
		"MTLComputeCommandEncoder": {e.(*encoder).m.o}, "MTLCommandEncoder": {e.(*encoder).m.o},
		"MTLCompileOptions": {options.o}, "MTLFunctionConstantValues": {values.o}, "MTLComputePipelineDescriptor": {desc.o},
		"MTLBinaryArchiveDescriptor": {archiveDesc.o}, "NSProcessInfo": {d.a.process().o}, "NSString": {text},
		"NSArray": {d.a.Array(text)}, "NSMutableDictionary": {dict}, "NSObject": {text}, "NSURL": {must(d.a.FileURL("/"))(t)}, "MTLBlitCommandEncoder": {blitting.(*blit).m.o},
		"MTLBinaryArchive": {opened.(*archive).x.o}, "MTLResidencySet": {d.residency.set.o},
	}
	selectors := must(Selectors())(t)
	checked := 0
	for _, s := range selectors {
		objects := live[s.Owner]
		if s.Class {
			// The stand-in has no metaclasses.
			if runtime.GOOS != "darwin" {
				continue
			}
			class, err := d.a.Class(s.Owner)
			if err != nil && s.Owner != "MTLResidencySetDescriptor" {
				t.Error(err)
			}
			objects = []id{class}
		}
		for _, o := range objects {
			if o == 0 {
				continue
			}
			switch got := d.a.LiveEncoding(o, d.a.Selector(s.Name)); {
			case got == "" && slices.Contains(newer, s.Name):
				t.Logf("%v: not in this system", s)
			case !sameToMachine(got, s.Encoding):
				t.Errorf("%v: the live object has %q, the Go signature is %s", s, got, s.Encoding)
			default:
				checked++
			}
		}
	}
	if checked < 90 {
		t.Errorf("only %d of %d methods were compared", checked, len(selectors))
	}
	t.Logf("%d of %d methods compared", checked, len(selectors))
	for _, o := range []object{options.object, values.object, desc.object, archiveDesc.object} {
		o.release()
	}
	d.a.Release(text)
	d.a.Release(dict)
	if err := errors.Join(e.EndEncoding(), blitting.EndEncoding()); err != nil {
		t.Error(err)
	}
	for _, o := range []interface{ Release() }{c, other, opened, q, b, p, l} {
		o.Release()
	}
}

// newer are what systems before macOS 15 lack, or before 14.
var newer = []string{"setMathMode:", "mathMode", "setMathFloatingPointFunctions:", "architecture",
	"addResidencySet:", "removeResidencySet:", "newResidencySetWithDescriptor:error:"}

var structName = regexp.MustCompile(`\{[^=]*=`)

// sameToMachine allows what a class may spell differently from the header: the
// target of a pointer, the name of a struct, the sign of a word.
func sameToMachine(a, b string) bool {
	plain := func(s string) string {
		s = structName.ReplaceAllString(s, "{=")
		return strings.NewReplacer("^v", "*", "^@", "*", "@?", "@", "q", "Q").Replace(s)
	}
	return plain(a) == plain(b)
}
