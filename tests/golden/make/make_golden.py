#!/usr/bin/env python3
"""Makes the files of tests/golden/data from NumPy 2: python3 tests/golden/make/make_golden.py [folder]."""
import os
import sys
import warnings

import numpy as np

from golden_advanced import write_advanced, write_functions
from golden_everyday_programs import write_everyday_programs
from golden_elementwise import write_casts, write_elementwise, write_promotion
from golden_fft import write_fft
from golden_files import write_npy, write_npz
from golden_histograms import write_histograms
from golden_indexing import write_indexing
from golden_keywords import write_keywords
from golden_linalg import write_linalg
from golden_making import write_making
from golden_more_programs import write_more_programs
from golden_more_sized_programs import write_more_sized_programs
from golden_names import write_names
from golden_numerics import write_numerics
from golden_printing import write_array2string, write_printing
from golden_programs import write_programs
from golden_products import write_einsum, write_products
from golden_reductions import write_reductions
from golden_sized_programs import write_sized_programs
from golden_solvers import write_solvers
from golden_sorting import write_sorting
from golden_sparse import write_sparse
from golden_sparse_programs import write_sparse_programs
from golden_spatial import write_spatial
from golden_special import write_special
from golden_statistics import write_statistics
from golden_text import write_savetxt, write_text


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    seeds = {"elementwise": (write_elementwise, 1), "casts": (write_casts, 2), "indexing": (write_indexing, 3),
             "reductions": (write_reductions, 4), "advanced": (write_advanced, 5),
             "indexing_functions": (write_functions, 6), "sorting": (write_sorting, 5),
             "histograms": (write_histograms, 7), "npy": (write_npy, 7), "npz": (write_npz, 8),
             "printing": (write_printing, 9), "array2string": (write_array2string, 10),
             "text": (write_text, 11), "savetxt": (write_savetxt, 12),
             "products": (write_products, 8), "einsum": (write_einsum, 9), "linalg": (write_linalg, 10),
             "fft": (write_fft, 7), "statistics": (write_statistics, 11), "numerics": (write_numerics, 12),
             "making": (write_making, 13), "names": (write_names, 14), "keywords": (write_keywords, 14),
             "programs": (write_programs, 15),
             "more_programs": (write_more_programs, 15), "sized_programs": (write_sized_programs, 15),
             "more_sized_programs": (write_more_sized_programs, 15),
             "everyday_programs": (write_everyday_programs, 15),
             "special": (write_special, 12), "sparse": (write_sparse, 16), "solvers": (write_solvers, 17),
             "sparse_programs": (write_sparse_programs, 15),
             "special": (write_special, 12), "spatial": (write_spatial, 16)}
    sizes = {"promotion": write_promotion(os.path.join(folder, "promotion.bin"))}
    for name, (write, seed) in seeds.items():
        sizes[name] = write(os.path.join(folder, name + ".bin"), np.random.default_rng(seed))
    for name, size in sizes.items():
        print(f"{name}.bin {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
