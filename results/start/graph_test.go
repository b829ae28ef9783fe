package start

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/introgen/introgen/results/breakdown"
)

// graph makes a start of a text: words are pieces, in order, "|" begins a phase, and
// "!" is a goal that is reached. "5" is work, "A5" a library, "Af3" its pipeline f,
// "i5" the instrument's work, "d" where a device is there.
func graph(text string) *Start {
	s := &Start{Phases: []Phase{{1, "phase 1"}}}
	for _, word := range strings.Fields(text) {
		name := strings.TrimRight(word, "0123456789")
		took := time.Duration(0)
		fmt.Sscan(word[len(name):], &took)
		p := Piece{Phase: len(s.Phases) - 1, Compile: -1, Time: took, Instrument: name == "i"}
		switch name {
		case "|":
			s.Phases = append(s.Phases, Phase{1, fmt.Sprintf("phase %d", len(s.Phases)+1)})
			continue
		case "!":
			s.Goals = append(s.Goals, Goal{Name: fmt.Sprintf("goal %d", len(s.Goals)+1), after: len(s.Pieces)})
			continue
		case "d":
			s.device = len(s.Pieces)
			continue
		case "", "i":
		default:
			c := Compile{Compile: breakdown.Compile{Library: name[:1], Function: name[1:], Time: took}, Of: -1, Phase: p.Phase, need: len(s.Pieces)}
			if !c.IsLibrary() {
				c.Of = slices.IndexFunc(s.Compiles, func(x Compile) bool { return x.IsLibrary() && x.Library == c.Library })
			}
			p.Compile = len(s.Compiles)
			s.Compiles = append(s.Compiles, c)
		}
		s.Pieces = append(s.Pieces, p)
	}
	return s
}

// TestByHand: schedules of small graphs, which were computed on paper.
func TestByHand(t *testing.T) {
	for _, c := range []struct {
		graph string
		rules Rules
		want  []time.Duration // the goals, then the wall clock
		path  string          // of the last goal
	}{
		// 10 + 5+3+2 + 4 + 6+1 + 7
		{"10 A5 Af3 Ag2 4 ! | B6 Bf1 7 !", Rules{}, []time.Duration{24, 38, 38}, "10 A Af Ag 4 B Bf 7"},
		{"10 A5 Af3 Ag2 4 ! | B6 Bf1 7 !", Rules{When: Serial}, []time.Duration{24, 38, 38}, "10 A Af Ag 4 B Bf 7"},
		// At 0: A until 5, then f until 8 and g until 7 beside it, before they are needed
		// at 10; B from 14 to 20, f to 21.
		{"10 A5 Af3 Ag2 4 ! | B6 Bf1 7 !", Rules{When: Concurrent, Threads: 2}, []time.Duration{14, 28, 28}, "14 B Bf 7"},
		// All is there at 10.
		{"10 A5 Af3 Ag2 4 ! | B6 Bf1 7 !", Rules{When: Early, Threads: 2}, []time.Duration{14, 21, 21}, "21"},
		// One thread: A to 5, f to 8, g to 10, B to 16, f to 17; work to 14, then 17, then 24.
		{"10 A5 Af3 Ag2 4 ! | B6 Bf1 7 !", Rules{When: Early, Threads: 1}, []time.Duration{14, 24, 24}, "A Af Ag B Bf 7"},
		// Only B is let go; the main thread compiles A itself, and B is there at 7.
		{"10 A5 Af3 Ag2 4 ! | B6 Bf1 7 !", Rules{When: Behind, Threads: 1}, []time.Duration{24, 31, 31}, "10 A Af Ag 11"},
		// A device is there at 10 alone.
		{"10 d A5 Af3 Ag2 4 ! | B6 Bf1 7 !", Rules{When: Early}, []time.Duration{22, 29, 29}, "10 A Af 11"},
		// The longest chain: B and f, 9, while A and f take 3.
		{"A2 Af1 B6 Bf3 1 !", Rules{When: Concurrent}, []time.Duration{10, 10}, "B Bf 1"},
		// Libraries first: on one thread A, B, then their pipelines.
		{"A2 Af1 5 B6 Bf3 1 !", Rules{When: Concurrent, Threads: 1}, []time.Duration{15, 15}, "A B Af 6"},
		{"A2 Af1 5 B6 Bf3 1 !", Rules{When: Early, Threads: 1}, []time.Duration{13, 13}, "A Af B Bf 1"},
		// Two compiles beside each other take 1.5 times as long: A is there at 6, until when
		// 4 of B's 6 are done; alone it needs 2 more.
		{"A4 B6 1 !", Rules{When: Concurrent, Slow: 1.5}, []time.Duration{9, 9}, "B 1"},
		// Three on two cores get two thirds each: A, B and the work of 4 go on until 6.
		{"4 A4 B4 !", Rules{When: Early, Cores: 2}, []time.Duration{6, 6}, "6"},
		// On one core nothing is won.
		{"4 A4 B4 !", Rules{When: Early, Cores: 1}, []time.Duration{12, 12}, "12"},
		// The instrument's work delays, and counts for no goal.
		{"1 i9 A4 2 !", Rules{}, []time.Duration{7, 16}, ""},
		{"1 i9 A4 2 !", Rules{When: Early}, []time.Duration{3, 12}, ""},
		// In half the time.
		{"2 A4 Af2 !", Rules{When: Serial, Compile: func(c Compile) time.Duration { return c.Time / 2 }, Piece: func(p Piece) time.Duration { return 1 }}, []time.Duration{4, 4}, "1 A Af"},
	} {
		s := graph(c.graph)
		r := s.Replay(c.rules)
		if got := append(slices.Clone(r.Goals), r.Wall); !slices.Equal(got, c.want) {
			t.Errorf("%s, %v on %d threads: %v, want %v", c.graph, c.rules.When, c.rules.Threads, got, c.want)
		}
		if c.path == "" {
			continue
		}
		var path []string
		for _, x := range s.Path(r, len(s.Goals)-1) {
			if x.Compile < 0 {
				path = append(path, fmt.Sprint(int(x.To-x.From)))
				continue
			}
			path = append(path, s.Compiles[x.Compile].Library+s.Compiles[x.Compile].Function)
		}
		if got := strings.Join(path, " "); got != c.path {
			t.Errorf("%s, %v on %d threads waits for %q, want %q", c.graph, c.rules.When, c.rules.Threads, got, c.path)
		}
	}
}

// TestDivided: libraries of one kernel each, and all as one.
func TestDivided(t *testing.T) {
	s := graph("A6 Af1 2 Ag1 Af2 ! | B4 Bf1 3 !")
	each := s.OneEach(func(c Compile) time.Duration { return c.Time / 2 })
	// A's first kernel 3+1, 2 of work, its second 3+1, once more the first's pipeline 2;
	// then 2+1+3.
	if r := each.Replay(Rules{When: Serial}); !slices.Equal(r.Goals, []time.Duration{12, 18}) {
		t.Errorf("one each: %v", r.Goals)
	}
	if n := len(each.Compiles); n != 7 {
		t.Errorf("%d compiles, want 3 libraries and 4 pipelines", n)
	}
	// Side by side: f is there at 4 and the other f at 5; g at 4, needed at 6.
	if r := each.Replay(Rules{When: Early}); !slices.Equal(r.Goals, []time.Duration{6, 9}) {
		t.Errorf("one each, early: %v", r.Goals)
	}
	// Of 2 in common, 4 of A's and 2 of B's are left: 8, 1, 2, 1, 2, then 1, 3.
	one := s.OneOfAll(2, func(c Compile) time.Duration { return c.Time - 2 })
	if r := one.Replay(Rules{When: Serial}); !slices.Equal(r.Goals, []time.Duration{14, 18}) {
		t.Errorf("one of all: %v", r.Goals)
	}
	// Early the pipelines follow at once: 8, 1, 2, then 3.
	if r := one.Replay(Rules{When: Early}); !slices.Equal(r.Goals, []time.Duration{11, 14}) {
		t.Errorf("one of all, early: %v", r.Goals)
	}
}

// random is a graph of some libraries, pipelines and work.
func random(r *rand.Rand, compiles, longest int) string {
	var words []string
	libraries := 0
	for n := 0; n < compiles; {
		switch k := r.IntN(5); {
		case k == 0:
			words = append(words, fmt.Sprint(r.IntN(longest)))
		case k == 1 && n > 0:
			words = append(words, "|")
		case k == 2 && libraries < 26 || libraries == 0:
			words = append(words, fmt.Sprintf("%c%d", 'A'+libraries, r.IntN(longest)))
			libraries++
			n++
		default:
			words = append(words, fmt.Sprintf("%c%c%d", 'A'+r.IntN(libraries), 'a'+n%20, r.IntN(longest)))
			n++
		}
		if r.IntN(8) == 0 && len(words) > 0 {
			words = append(words, "!")
		}
	}
	return strings.Join(append(words, fmt.Sprint(r.IntN(longest)), "!"), " ")
}

// TestProperties of schedules of many graphs, whatever they are of.
func TestProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		text := random(r, 1+r.IntN(14), 12)
		s := graph(text)
		sum := time.Duration(0)
		for _, p := range s.Pieces {
			sum += p.Time
		}
		if got := s.Replay(Rules{When: Serial}); got.Wall != sum {
			t.Fatalf("%s: serial takes %v, want the sum %v", text, got.Wall, sum)
		}
		critical := s.critical()
		for _, when := range []When{Concurrent, Early, Behind} {
			for _, threads := range []int{1, 2, 3, 0} {
				for _, rules := range []Rules{{}, {Cores: 1}, {Cores: 2}, {Slow: 1.6}, {Cores: 3, Slow: 1.3}} {
					rules.When, rules.Threads = when, threads
					got := s.Replay(rules)
					// The main thread waits only while something is compiled: with a core for
					// it nothing can be later than serial. Rounding is to a nanosecond.
					if got.Wall > sum+1 {
						t.Fatalf("%s: %+v takes %v, serial %v", text, rules, got.Wall, sum)
					}
					if got.Wall < critical {
						t.Fatalf("%s: %+v takes %v, less than its critical path %v", text, rules, got.Wall, critical)
					}
					s.sound(t, text, rules, got)
				}
			}
		}
		// Without a limit, whoever begins sooner is there sooner.
		early, concurrent := s.Replay(Rules{When: Early}), s.Replay(Rules{When: Concurrent})
		for g := range s.Goals {
			if early.Goals[g] > concurrent.Goals[g] {
				t.Fatalf("%s: early %v, concurrent %v", text, early.Goals, concurrent.Goals)
			}
			for _, threads := range []int{1, 2, 4} {
				if few := s.Replay(Rules{When: Early, Threads: threads}); few.Goals[g] < early.Goals[g] {
					t.Fatalf("%s: %d threads %v, without limit %v", text, threads, few.Goals, early.Goals)
				}
			}
		}
	}
}

// TestMoreThreads: with one more thread nothing is later, where no compile waits for
// another one. (Where some do, a list schedule can be, by Graham's anomalies.)
func TestMoreThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var words []string
		for i := range 1 + r.IntN(12) {
			words = append(words, fmt.Sprintf("%d %c%d", r.IntN(5), 'A'+i, r.IntN(12)))
		}
		text := strings.Join(append(words, "!"), " ")
		s := graph(text)
		last := s.Replay(Rules{When: Serial})
		for threads := 1; threads <= 13; threads++ {
			got := s.Replay(Rules{When: Early, Threads: threads})
			if got.Wall > last.Wall {
				t.Fatalf("%s: %v on %d threads, %v on one less", text, got.Wall, threads, last.Wall)
			}
			last = got
		}
	}
}

// critical is the longest path through the graph, without a limit and from the device on.
func (s *Start) critical() time.Duration {
	there := make([]time.Duration, len(s.Compiles))
	for i, c := range s.Compiles {
		if there[i] = c.Time; c.Of >= 0 {
			there[i] += there[c.Of]
		}
	}
	at := time.Duration(0)
	for _, p := range s.Pieces {
		if p.Compile < 0 {
			at += p.Time
		} else {
			at = max(at, there[p.Compile])
		}
	}
	return at
}

// sound says of a schedule that nothing begins before what it needs, that no thread
// does two things at once, and that no compile is quicker than alone.
func (s *Start) sound(t *testing.T, text string, rules Rules, got Schedule) {
	t.Helper()
	busy := map[int][]Task{}
	for i, x := range got.Tasks {
		c := s.Compiles[i]
		if c.Of >= 0 && x.From < got.Tasks[c.Of].To {
			t.Fatalf("%s: %+v makes %s%s at %v, its library is there at %v", text, rules, c.Library, c.Function, x.From, got.Tasks[c.Of].To)
		}
		if x.To-x.From < c.Time-1 {
			t.Fatalf("%s: %+v makes %s%s in %v, alone it takes %v", text, rules, c.Library, c.Function, x.To-x.From, c.Time)
		}
		for _, y := range busy[x.Thread] {
			if x.From < y.To && y.From < x.To {
				t.Fatalf("%s: %+v has thread %d do two things at once: %+v and %+v", text, rules, x.Thread, x, y)
			}
		}
		busy[x.Thread] = append(busy[x.Thread], x)
		if x.Thread > rules.Threads && rules.Threads > 0 {
			t.Fatalf("%s: %+v has a thread %d", text, rules, x.Thread)
		}
	}
}
