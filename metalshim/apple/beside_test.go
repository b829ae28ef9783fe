package apple

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/introgen/introgen/metalshim"
	"github.com/introgen/introgen/metalshim/apple/standin"
)

// A compile that begins while another is under way goes by Metal's asynchronous call,
// and gives the same; from then on the device compiles on as many threads as it can.
func TestBeside(t *testing.T) {
	// The first call at a point waits there until it is let go.
	type stop struct{ held, open chan bool }
	var stops sync.Map
	hold := func(p standin.Point) stop {
		at := stop{make(chan bool), make(chan bool)}
		stops.Store(p, at)
		return at
	}
	d := shown(t, standin.Options{Plant: func(p standin.Point, _ int, _ string) *standin.Failure {
		if at, here := stops.LoadAndDelete(p); here {
			close(at.(stop).held)
			<-at.(stop).open
		}
		return nil
	}}, Options{})
	if n := d.CompileThreads(); n < 2 || d.d.maximizesCompilation() {
		t.Errorf("%d threads compile, maximized: %t", n, d.d.maximizesCompilation())
	}
	made := make(chan any)
	at := hold(standin.AtLibrary)
	go func() { made <- must(d.NewLibrary(t.Context(), metalshim.Source{Name: "Add", Text: addSource}))(t) }()
	<-at.held
	two := compile(t, d)
	close(at.open)
	one := (<-made).(metalshim.Library)
	if !d.d.maximizesCompilation() || two.Name() != one.Name() {
		t.Errorf("maximized: %t; %s and %s", d.d.maximizesCompilation(), one.Name(), two.Name())
	}
	at = hold(standin.AtPipeline)
	go func() { made <- must(one.NewPipeline(t.Context(), "add", nil))(t) }()
	<-at.held
	second := must(two.NewPipeline(t.Context(), "add", nil))(t)
	close(at.open)
	first := (<-made).(metalshim.Pipeline)
	// So does one that is not in an archive.
	x := must(d.NewArchive(filepath.Join(t.TempDir(), "a")))(t)
	kept := must(x.NewLibrary(t.Context(), metalshim.Source{Name: "Add", Text: addSource}))(t)
	at = hold(standin.AtPipeline)
	go func() { made <- must(one.NewPipeline(t.Context(), "through", nil))(t) }()
	<-at.held
	third := must(kept.NewPipeline(t.Context(), "add", nil))(t)
	close(at.open)
	other := (<-made).(metalshim.Pipeline)
	if e := third.Evidence(); e.Archive != fresh {
		t.Errorf("a new archive: %+v", e)
	}
	q := must(d.NewQueue())(t)
	for _, add := range []metalshim.Pipeline{first, second, third} {
		a, b := must(d.NewBufferWithBytes(floats(1, 2)))(t), must(d.NewBufferWithBytes(floats(3, 5)))(t)
		addOnce(t, q, add, a, b, 2).Release()
		if got := string(b.Contents()); got != string(floats(4, 7)) {
			t.Errorf("%x", got)
		}
		a.Release()
		b.Release()
	}
	for _, o := range []interface{ Release() }{q, first, second, third, other, kept, x, one, two} {
		o.Release()
	}
}

// Many goroutines compile at once.
func TestBesideMany(t *testing.T) {
	d := open(t, Options{})
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			l, err := d.NewLibrary(t.Context(), metalshim.Source{Name: "Add", Text: addSource})
			if err != nil {
				t.Error(err)
				return
			}
			defer l.Release()
			for _, name := range []string{"add", "through"} {
				p, err := l.NewPipeline(t.Context(), name, nil)
				if err != nil {
					t.Error(err)
					return
				}
				p.Release()
			}
			if _, err := l.NewPipeline(t.Context(), "none", nil); err == nil {
				t.Error("an absent function is found")
			}
		})
	}
	all.Wait()
	if n := d.besides.underWay; n != 0 {
		t.Errorf("%d compiles are under way", n)
	}
}
