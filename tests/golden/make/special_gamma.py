#!/usr/bin/env python3
"""Makes tests/ops/special/gamma_cases.inl: both incomplete gamma functions of large parameters, by mpmath.

python3 tests/golden/make/special_gamma.py
"""
import os

import mpmath as mp
import numpy as np

mp.mp.dps = 60


def both(a, x):
    """P and Q: the density, times its value at x, integrated from x to the side where it falls, in units of its fall."""
    a, x = mp.mpf(a), mp.mpf(x)
    log = mp.log(x)
    lead = mp.exp((a - 1) * log - x - mp.loggamma(a))
    slope = (a - 1) / x - 1
    upper = x >= a
    unit = 1 / max(-slope if upper else slope, 1 / mp.sqrt(a))
    sign = 1 if upper else -1
    density = lambda u: mp.exp((a - 1) * (mp.log(x + sign * u * unit) - log) - sign * u * unit)
    end = 130 if upper else min(mp.mpf(130), x / unit * mp.mpf("0.999999"))
    tail = mp.quad(density, [p for p in [0, .5, 1, 2, 4, 7, 12, 20, 35, 60, 100] if p < end] + [end]) * unit * lead
    return (1 - tail, tail) if upper else (tail, 1 - tail)


def main():
    rng = np.random.default_rng(20)
    lines = []
    for low, high in [(1.5, 2.4), (2.4, 2.5), (2.5, 3.2), (3.2, 3.9), (3.9, 4), (4, 7), (7, 10), (10, 14), (14, 18)]:
        for k in range(8):
            a = float(10 ** rng.uniform(low, high))
            z = [0, -.1, 1, -1.5, 4, -6, rng.uniform(10, 34), -rng.uniform(8, 30)][k]
            x = float(max(a + z * np.sqrt(a), a / 50))
            p, q = both(a, x)
            if min(p, q) > mp.mpf("1e-300"):
                lines.append("    {%s, %s, %s, %s}," % (a.hex(), x.hex(), float(p).hex(), float(q).hex()))
    where = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "ops", "special", "gamma_cases.inl")
    with open(where, "w") as f:
        f.write("// By tests/golden/make/special_gamma.py: a, x, P(a, x), Q(a, x).\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
