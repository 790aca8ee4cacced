#!/usr/bin/env python3
"""Makes programs.bin beside this script: random and directed programs with NumPy's results where those are exact.

python3 tests/fuzz/make_fuzz.py [file]
"""
import os
import sys
import warnings
from collections import Counter

import numpy as np

import directed
from builder import Builder, random_program
from bytecode import FUNCTIONS, OPS, Rejected, SIGNATURES, write_program
from functions import functions
from golden_format import Writer
from names import names, parts
from selections import selections

# (name, generator, exact programs, inexact programs)
FAMILIES = [("random", random_program, 5000, 800), ("views_and_writes", directed.views_and_writes, 250, 0),
            ("self_overlap", directed.self_overlap, 250, 0), ("stencil", directed.stencil, 12, 0),
            ("tower", directed.tower, 10, 10), ("sums_then_writes", directed.sums_then_writes, 150, 50),
            ("nearest", directed.nearest, 250, 150), ("tails", directed.tails, 0, 200), ("ties", directed.ties, 150, 0),
            ("odd_operands", directed.odd_operands, 250, 0), ("broadcast_pairs", directed.broadcast_pairs, 150, 100),
            ("large", directed.large, 80, 80), ("selections", selections, 600, 100),
            ("names", names, 500, 100), ("special", directed.special, 0, 150), ("functions", functions, 900, 250), ("parts", parts, 500, 100)]


def one(generate, seed, exact):
    """The program of a seed; seeds whose program cannot be exact are passed over."""
    for retry in range(200):
        registers = 12 if generate is random_program else 40
        b = Builder(np.random.default_rng([seed, exact, retry]), exact, registers)
        try:
            generate(b)
        except (Rejected, TypeError) as e:
            if isinstance(e, TypeError) and "NoneType" not in str(e) and "register" not in str(e):
                raise
            continue
        if any(v.a.size > 9100 for v in b.machine.reads):
            continue
        return b
    raise RuntimeError(f"no program of seed {seed}")


def main():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs.bin")
    path = sys.argv[1] if len(sys.argv) > 1 else beside
    warnings.simplefilter("ignore")
    w = Writer("programs")
    w.out[:8] = b"SNFUZZ1\n"
    for names in (FUNCTIONS, [name for name, *_ in FAMILIES], list(OPS)):
        w.varint(len(names))
        for name in names:
            w.text(name)
    for signature in SIGNATURES.values():
        w.text(signature)
    number, counts, seen = 0, Counter(), set()
    for family, (name, generate, exact, inexact) in enumerate(FAMILIES):
        for k in range(exact + inexact):
            b = one(generate, 1000 * family + k if family else k + 100000, k < exact)
            write_program(w, number, family, k < exact, b.code, b.machine.reads)
            seen.add(bytes(b.code))
            counts[name] += 1
            number += 1
    size = w.save(path)
    print(dict(counts), f"{number} programs, {len(seen)} distinct, {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
