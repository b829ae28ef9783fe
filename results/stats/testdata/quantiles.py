"""Quantiles by numpy's default method, which results/stats is tested against.

Reads lists of lists of numbers as JSON, prints for each the quantiles 0.5, 0.9 and
0.99, the largest value, and the quantiles 0, 0.25 and 1.

    echo '[[3, 1, 2]]' | python3 quantiles.py     with numpy 2.4.6 installed
"""
import json
import sys

import numpy as np

out = []
for x in json.load(sys.stdin):
    x = np.array(x, dtype=np.float64)
    out.append(np.quantile(x, [0.5, 0.9, 0.99]).tolist() + [x.max().item()] + np.quantile(x, [0, 0.25, 1]).tolist())
json.dump({"version": np.__version__, "quantiles": out}, sys.stdout)
