"""Figures that results/stats is tested against, computed by scipy and diptest.

    python3 oracle.py > oracle.json     with scipy, numpy and diptest installed

Signed-rank and U distributions are counted here from their definitions, over
all sign patterns and orders, which shares nothing with the recurrences of the
package.
"""
import itertools
import json
import math
import sys

import diptest
import numpy as np
import scipy
from scipy import stats

rng = np.random.default_rng(7)
out = {"origin": f"scipy {scipy.__version__}, numpy {np.__version__}, diptest {diptest.__version__}"}


def signed_rank(n):
    counts = [0] * (n * (n + 1) // 2 + 1)
    for signs in itertools.product((0, 1), repeat=n):
        counts[sum(r for r, s in zip(range(1, n + 1), signs) if s)] += 1
    return [float(c) / 2**n for c in np.cumsum(counts)]


def rank_sum(m, n):
    counts = [0] * (m * n + 1)
    for first in itertools.combinations(range(m + n), m):
        counts[sum(p - i for i, p in enumerate(first))] += 1
    return [float(c) / math.comb(m + n, m) for c in np.cumsum(counts)]


def discordant(n):
    counts = [0] * (n * (n - 1) // 2 + 1)
    for p in itertools.permutations(range(n)):
        counts[sum(p[i] > p[j] for i in range(n) for j in range(i + 1, n))] += 1
    return [float(c) / math.factorial(n) for c in np.cumsum(counts)]


out["signed_rank"] = {str(n): signed_rank(n) for n in (1, 5, 6, 11)}
out["rank_sum"] = {f"{m},{n}": rank_sum(m, n) for m, n in ((1, 1), (4, 4), (3, 7), (6, 8))}
out["discordant"] = {str(n): discordant(n) for n in (2, 5, 8)}


def paired(a, b):
    d = np.log(b) - np.log(a)
    test = stats.wilcoxon(d, method="exact")
    walsh = np.sort([(x + y) / 2 for x, y in itertools.combinations_with_replacement(d, 2)])
    # The largest k with P(V <= k-1) <= 2.5 %, from the counted distribution.
    cdf = signed_rank(len(d))
    k = max([i + 1 for i, p in enumerate(cdf) if p <= 0.025], default=0)
    return {"a": list(a), "b": list(b), "p": float(test.pvalue), "ratio": float(np.exp(np.median(walsh))),
            "lo": float(np.exp(walsh[k - 1])), "hi": float(np.exp(walsh[len(walsh) - k]))}


out["paired"] = []
for n, effect in ((6, 0.0), (6, 0.3), (8, 0.05), (12, 0.02), (15, 0.0)):
    drift = np.exp(rng.normal(0, 0.2, n))
    out["paired"].append(paired(3 * drift * np.exp(rng.normal(0, 0.03, n)), 3 * drift * np.exp(effect + rng.normal(0, 0.03, n))))

out["compare"] = []
for m, n, effect in ((4, 4, 1.0), (6, 6, 0.0), (6, 6, 0.1), (12, 9, 0.05), (30, 40, 0.02)):
    a, b = np.exp(rng.normal(1, 0.05, m)), np.exp(rng.normal(1 + effect, 0.05, n))
    method = "exact" if max(m, n) < 30 else "auto"
    out["compare"].append({"a": list(a), "b": list(b), "p": float(stats.mannwhitneyu(a, b, alternative="two-sided", method=method).pvalue)})

out["drift"] = []
for n, slope, digits in ((5, 0, 9), (8, 0.3, 9), (20, 0.03, 9), (20, 0, 1), (80, 0.002, 9)):
    x = np.round(10 + slope * np.arange(n) + rng.normal(0, 0.3, n), digits)
    exact = n <= 60 and len(set(x)) == n
    tau = stats.kendalltau(np.arange(n), x, method="exact" if exact else "asymptotic")
    out["drift"].append({"x": list(x), "tau": float(tau.statistic), "p": float(tau.pvalue), "exact": exact,
                         "change": float(stats.theilslopes(x, np.arange(n)).slope * (n - 1) / np.median(x))})

out["dip"] = []
for x in (rng.random(6), rng.normal(0, 1, 15), rng.exponential(1, 30), rng.random(200),
          np.concatenate([rng.normal(0, 1, 7), rng.normal(9, 1, 5)]), np.round(rng.normal(0, 2, 25)),
          np.array([1.0, 1, 1, 2, 2, 2]), np.array([1.0, 2, 3, 4, 5, 6])):
    x = np.sort(x)
    out["dip"].append({"x": list(x), "dip": float(diptest.dipstat(x, allow_zero=False))})

json.dump(out, sys.stdout, indent=1)
print()
