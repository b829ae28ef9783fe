package apple

import "sync"

// besides counts the compiles under way. One that begins alone is made by the call
// that candle makes. One that begins beside others is made by Metal's asynchronous
// call, and from then on the device is told to compile on as many threads as it can.
type besides struct {
	mu        sync.Mutex
	underWay  int
	maximized bool
}

// aloneOrBeside runs alone, or beside where another compile is under way.
func aloneOrBeside[T any](d *Device, alone, beside func() (T, error)) (T, error) {
	b := &d.besides
	b.mu.Lock()
	b.underWay++
	others := b.underWay > 1
	if others && !b.maximized {
		b.maximized = true
		if d.d.hasConcurrentCompilation() {
			d.d.setMaximizeCompilation(true)
		}
	}
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.underWay--
		b.mu.Unlock()
	}()
	if others {
		return beside()
	}
	return alone()
}

// CompileThreads is how many compiles the system runs at once where it is told to run
// many; 1 before macOS 13.3, where it does not say.
func (d *Device) CompileThreads() int {
	if d.usable("compile threads") != nil || !d.d.hasConcurrentCompilation() {
		return 1
	}
	b := &d.besides
	b.mu.Lock()
	defer b.mu.Unlock()
	was := d.d.maximizesCompilation()
	d.d.setMaximizeCompilation(true)
	n := d.d.compileThreads()
	if !was {
		d.d.setMaximizeCompilation(false)
	}
	return int(max(1, min(n, 1<<10)))
}
