package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/introgen/introgen/scripts/peers/peer"
)

// Report is the measured part of the page.
func (m *Measurement) Report() string {
	b := new(strings.Builder)
	m.writeMachine(b)
	b.WriteString("### Goals\n\nMedians over the blocks; in parentheses the smallest and the largest block.\n\n")
	m.writeGoals(b)
	for _, set := range m.Settings {
		fmt.Fprintf(b, "### %s\n\n", set)
		m.writeTimes(b, set)
		m.writeSpeedups(b, set)
	}
	if len(m.Bandwidth) > 0 {
		b.WriteString("### The memory's speed\n\n")
		m.writeBandwidth(b)
	}
	if len(m.Loaded) > 0 {
		b.WriteString("### Beside a busy neighbour\n\nAnother process keeps one core busy. A round is prefill and " +
			fmt.Sprint(decodeSteps) + " decode steps.\n\n")
		m.writeLoaded(b)
	}
	b.WriteString("### What was built\n\n")
	m.writeEngines(b)
	return b.String()
}

func (m *Measurement) writeMachine(b *strings.Builder) {
	fmt.Fprintf(b, "Measured on %s with introgen %s: %d blocks, %d rounds in each process.\n\n",
		m.Date.Format("2006-01-02 15:04 MST"), m.Revision, m.Blocks, m.Rounds)
	m.Machine.WriteTable(b, m.Busy[0], m.Absent)
}

func (m *Measurement) writeTimes(b *strings.Builder, set Setting) {
	var rows [][]string
	for _, e := range m.Engines { // introgen first
		name := e.Name
		if m.spread(set, name, Decode).N == 0 {
			continue
		}
		at := func(f Figure, decimals int) string { return m.spread(set, name, f).Cell(decimals, "") }
		rows = append(rows, []string{name, at(Load, 1), at(Prefill, 1), at(Decode, 2), m.share(set, name).Percent(),
			at(FirstToken, 1), at(Peak, 0), m.sameTokens(set, name)})
	}
	peer.Table(b, []string{"engine", "read + build, ms", "prefill, ms", "decode, ms a token", "of the memory's best speed",
		"open → first token in a fresh process, ms", "peak memory, MiB", "ids as introgen's"}, rows)
}

// sameTokens is how many new ids, from the first one on, are those of introgen,
// whose activations are not rounded to 8 bits.
func (m *Measurement) sameTokens(set Setting, engine string) string {
	own, its, n := m.ids(set, variantDefault), m.ids(set, engine), 0
	if own == nil || its == nil {
		return peer.None
	}
	for n < len(own) && n < len(its) && own[n] == its[n] {
		n++
	}
	return fmt.Sprintf("%d of %d", n, len(own))
}

// ids are the new ids of an engine, the same in every block; nil where it did
// not print them.
func (m *Measurement) ids(set Setting, engine string) []int {
	for _, s := range m.Samples {
		if s.Setting == set && s.Engine == engine {
			return s.Output.IDs
		}
	}
	return nil
}

// families are those of the peers, in the order of the engines.
func (m *Measurement) families() []string {
	var out []string
	for _, e := range m.Engines {
		if e.Family != "introgen" && !slices.Contains(out, e.Family) {
			out = append(out, e.Family)
		}
	}
	return out
}

func (m *Measurement) writeSpeedups(b *strings.Builder, set Setting) {
	var rows [][]string
	for _, variant := range []string{variantDefault, variantPack} {
		for _, family := range m.families() {
			if m.speedup(set, variant, family, Decode).N == 0 {
				continue
			}
			row := []string{variant + " against " + family}
			for _, f := range []Figure{Load, Prefill, Decode, FirstToken} {
				row = append(row, m.speedup(set, variant, family, f).Times())
			}
			rows = append(rows, row)
		}
	}
	if len(rows) > 0 {
		peer.Table(b, []string{"how many times as fast", "read + build", "prefill", "decode", "open → first token"}, rows)
	}
}

func (m *Measurement) writeBandwidth(b *strings.Builder) {
	type kind struct {
		threads int
		pages   string
	}
	var kinds []kind
	best, mid := map[kind][]float64{}, map[kind][]float64{}
	for _, r := range m.Bandwidth {
		k := kind{r.Threads, r.Pages}
		if best[k] == nil {
			kinds = append(kinds, k)
		}
		best[k], mid[k] = append(best[k], r.Best), append(mid[k], r.Median)
	}
	var rows [][]string
	for _, k := range kinds {
		rows = append(rows, []string{fmt.Sprintf("threads %d, %s pages", k.threads, k.pages),
			peer.SpreadOf(best[k]).Cell(1, ""), peer.SpreadOf(mid[k]).Cell(1, "")})
	}
	peer.Table(b, []string{"reading as many bytes as the Q8_0 file has", "best of the rounds, GB/s", "median of the rounds, GB/s"}, rows)
}

func (m *Measurement) writeLoaded(b *strings.Builder) {
	one := Setting{m.Settings[0].Model, 1}
	var rows [][]string
	for _, e := range m.Engines {
		for _, set := range m.Settings {
			round := peer.SpreadOf(valuesOf(m.Loaded, set, e.Name, Total))
			if round.N == 0 {
				continue
			}
			row := []string{e.Name, set.String(), round.Cell(1, ""), peer.None}
			if set != one {
				row[3] = m.slowdown(e.Name, set, one).Times()
			}
			rows = append(rows, row)
		}
	}
	peer.Table(b, []string{"engine", "setting", "a round, ms", "by one thread's time"}, rows)
}

func (m *Measurement) writeEngines(b *strings.Builder) {
	for _, e := range m.Engines {
		fmt.Fprintf(b, "- %s: %s\n", e.Name, e.Built)
		for _, s := range m.Samples {
			if s.Engine == e.Name && s.Setting == m.Settings[0] && len(s.Output.About) > 0 {
				fmt.Fprintf(b, "  It says: `%s`\n", strings.Join(s.Output.About, "`; `"))
				break
			}
		}
	}
	b.WriteByte('\n')
}
