package plan

import "time"

// pace estimates how long a plan goes on, from how long its runs and blocks
// took so far.
type pace struct {
	arms     []string
	blocks   int // the most
	cooldown time.Duration
	sum      map[string]time.Duration
	n        map[string]int
	done     int
	began    time.Duration // of the block under way
	total    time.Duration // of the blocks done
}

func newPace(o Options) pace {
	p := pace{blocks: o.Max, cooldown: o.Cooldown, sum: map[string]time.Duration{}, n: map[string]int{}}
	for _, a := range o.Plan.Arms {
		p.arms = append(p.arms, a.Name)
	}
	return p
}

// ran takes how long a run took.
func (p *pace) ran(arm string, took time.Duration) {
	p.sum[arm] += took
	p.n[arm]++
}

// blockDone takes the time at which a block ended.
func (p *pace) blockDone(now time.Duration) {
	p.total += now - p.began
	p.began = now
	p.done++
}

// block is how long a block lasts: the mean of those done, or in the first one
// the sum of the arms' runs, where an arm that has not run yet counts as the
// mean of those that have; negative while none has.
func (p *pace) block() time.Duration {
	if p.done > 0 {
		return p.total / time.Duration(p.done)
	}
	var sum time.Duration
	known := 0
	for _, arm := range p.arms {
		if p.n[arm] > 0 {
			known++
			sum += p.sum[arm] / time.Duration(p.n[arm])
		}
	}
	if known == 0 {
		return -1
	}
	all := time.Duration(len(p.arms))
	return sum*all/time.Duration(known) + p.cooldown*all
}

// left is about how long the plan goes on until its most blocks are done,
// negative while nobody can tell.
func (p *pace) left(now time.Duration) time.Duration {
	one := p.block()
	if one < 0 {
		return -1
	}
	return one*time.Duration(p.blocks-p.done) - min(one, now-p.began)
}
