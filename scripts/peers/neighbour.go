package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/introgen/introgen/figures"
	"github.com/introgen/introgen/scripts/peers/peer"
)

// neighbourLimit ends a neighbour that was not ended: longer than the process
// beside it may take.
const neighbourLimit = processLimit + time.Minute

// beNeighbour keeps one core busy for d, or until ctx ends.
func beNeighbour(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for x := uint64(1); ; x = x*6364136223846793005 + 1442695040888963407 {
		// Looking at the clock or the context in every turn would leave the
		// core to the kernel half of the time.
		if x>>44 == 0 && ctx.Err() != nil {
			return
		}
	}
}

// withNeighbour runs f while another process of this program keeps a core busy.
func withNeighbour(ctx context.Context, f func() error) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, "-neighbour", neighbourLimit.String())
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("busy neighbour: %w", err)
	}
	defer func() {
		// It may have ended by itself: then there is nothing to end.
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	return f()
}

// loaded measures introgen, and the peer that serves best without load, beside
// a busy neighbour: with every number of threads, all in the same block.
func (r *Runner) loaded(ctx context.Context, m *Measurement) error {
	engines := slices.DeleteFunc(slices.Clone(m.Engines), func(e Engine) bool {
		return e.Family != "introgen" && e.Name != m.best(m.Settings[0], "llama.cpp", Decode)
	})
	type turn struct {
		engine Engine
		set    Setting
	}
	var turns []turn
	for _, e := range engines {
		for _, set := range m.Settings {
			if set.Model == m.Settings[0].Model {
				turns = append(turns, turn{e, set})
			}
		}
	}
	for block := range m.Blocks {
		for _, t := range peer.Ordered(turns, block) {
			err := withNeighbour(ctx, func() error {
				s, err := r.one(ctx, t.engine, t.set, block, m.Rounds)
				if err != nil {
					return err
				}
				m.Loaded = append(m.Loaded, s)
				fmt.Fprintf(r.Log, "block %d of %d beside a busy neighbour, %s, %-22s prefill + decode %7s ms\n",
					block+1, m.Blocks, t.set, t.engine.Name, figures.Text(Total.Of(s), 1))
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
