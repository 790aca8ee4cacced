#!/usr/bin/env python3
"""Makes the golden files beside this script from NumPy 2: python3 tests/golden/make_golden.py [folder]."""
import os
import sys
import warnings

import numpy as np

from golden_elementwise import write_casts, write_elementwise, write_promotion
from golden_indexing import write_indexing
from golden_reductions import write_reductions


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    seeds = {"elementwise": (write_elementwise, 1), "casts": (write_casts, 2), "indexing": (write_indexing, 3),
             "reductions": (write_reductions, 4)}
    sizes = {"promotion": write_promotion(os.path.join(folder, "promotion.bin"))}
    for name, (write, seed) in seeds.items():
        sizes[name] = write(os.path.join(folder, name + ".bin"), np.random.default_rng(seed))
    for name, size in sizes.items():
        print(f"{name}.bin {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
