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

// Keys are what --metric calls them.
func Keys() []string {
	keys := make([]string, len(Metrics))
	for i, m := range Metrics {
		keys[i] = m.Key
	}
	return keys
}

// Find is the metric with the key.
func Find(key string) (metrics.Metric, error) {
	i := slices.IndexFunc(Metrics, func(m metrics.Metric) bool { return m.Called(key) })
	if i < 0 {
		return metrics.Metric{}, fmt.Errorf("metric %q is not known: %s are allowed", key, strings.Join(Keys(), ", "))
	}
	return Metrics[i], nil
}
