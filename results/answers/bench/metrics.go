package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/introgen/introgen/results/metrics"
)

// Metrics are what arms are compared by, as the table has them. All are times, of
// which less is better.
var Metrics = []metrics.Metric{metrics.Token1, metrics.Prefill, metrics.Decode, metrics.Total, metrics.Process}

// Tail are those of slow decode steps, which follow where rounds have enough steps.
var Tail = metrics.Tail

// Program are those that follow where an arm is a program that was recorded.
var Program = []metrics.Metric{metrics.FirstOutput, metrics.Repeats, metrics.LibraryTime, metrics.PipelineTime, metrics.GPUTime,
	metrics.Libraries, metrics.Pipelines, metrics.CommandBuffers, metrics.Dispatches, metrics.Barriers}

// Keys are what --metric calls them.
func Keys() []string {
	return keys(all())
}

// TailKeys are those of the slow steps.
func TailKeys() []string { return keys(Tail) }

func keys(of []metrics.Metric) []string {
	var out []string
	for _, m := range of {
		out = append(out, m.Key)
	}
	return out
}

// Find is the metric with the key.
func Find(key string) (metrics.Metric, error) {
	i := slices.IndexFunc(all(), func(m metrics.Metric) bool { return m.Called(key) })
	if i < 0 {
		return metrics.Metric{}, fmt.Errorf("metric %q is not known: %s are allowed", key, strings.Join(keys(Metrics), ", "))
	}
	return all()[i], nil
}

func all() []metrics.Metric { return slices.Concat(Metrics, Tail, Program) }
