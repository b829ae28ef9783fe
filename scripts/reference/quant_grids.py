#!/usr/bin/env python3
"""Write the tables of values that the IQ formats index, from the PyPI package gguf.

    VENV/bin/python scripts/reference/quant_grids.py engine/quant/grids

A file for each table, a signed byte for each value, read by engine/quant/grids.go.
VENV is that of quant_oracle.py.
"""
import sys
from pathlib import Path

import numpy as np
from gguf import quants

for name in ["IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ1_S"]:
    codec = getattr(quants, name)
    codec.init_grid()
    (Path(sys.argv[1]) / name.lower()).write_bytes(codec.grid.astype(np.int8).tobytes())
