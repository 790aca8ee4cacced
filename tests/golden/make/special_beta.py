#!/usr/bin/env python3
"""Makes tests/ops/special/beta_cases.inl and f_cases.inl: both tails of the incomplete beta function and of the F distribution for
large parameters, by mpmath.

python3 tests/golden/make/special_beta.py
"""
import os

import mpmath as mp
import numpy as np

mp.mp.dps = 60
HERE = os.path.dirname(os.path.abspath(__file__))


def both(a, b, x):
    """I and 1 - I: the density, which is x^a (1 - x)^b / B(a, b) in log odds, integrated from x to the side where it falls."""
    a, b, x = mp.mpf(a), mp.mpf(b), mp.mpf(x)
    total, y = a + b, 1 - x
    lead = mp.exp(a * mp.log(x) + b * mp.log(y) - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(total))
    slope, variance = total * x - a, total * x * y
    sign = 1 if slope >= 0 else -1
    unit = 1 / (abs(slope) + mp.sqrt(variance))
    density = lambda u: mp.exp(sign * a * u * unit - total * mp.log1p(x * mp.expm1(sign * u * unit)))
    tail = mp.quad(density, [0, 1, 2, 4, 7, 12, 20, 35, 60, 100, 160]) * unit * lead
    return (1 - tail, tail) if sign > 0 else (tail, 1 - tail)


def write(name, comment, lines):
    with open(os.path.join(HERE, "..", "..", "ops", "special", name), "w") as f:
        f.write("// By tests/golden/make/special_beta.py: " + comment + "\n" + "\n".join(lines) + "\n")


def row(*numbers):
    return "    {" + ", ".join(float(x).hex() for x in numbers) + "},"


def main():
    rng = np.random.default_rng(21)
    shifts = [0, -.3, 1, -2.5, 6, -14, 25, -35]
    betas, fs = [], []
    for low in (2, 2.9, 3, 3.5, 3.9, 5, 7, 10, 14):
        for k, ratio in enumerate((0, .1, -.5, 1, -2, 4, -6, 7)):
            for shift in (shifts[k], shifts[(k + 3 + int(2 * low)) % 8]):
                # Whole numbers, so that binomial distributions have the same ones.
                a = float(np.rint(10 ** (low + rng.uniform(0, .1))))
                b = float(np.rint(a * 10 ** abs(ratio)))
                if a + b > 9e15:
                    continue
                if ratio < 0:
                    a, b = b, a
                mean = a / (a + b)
                width = np.sqrt(mean * (b / (a + b)) / (a + b))
                x = mean + shift * rng.uniform(.95, 1.05) * width
                if not 0 < x < 1:
                    continue
                p, q = both(a, b, x)
                if min(p, q) > mp.mpf("1e-300"):
                    betas.append(row(a, b, x, p, q))
                if k % 2 == 0:
                    odds = (b / a) * (mean + shift * width) / (1 - mean - shift * width)
                    if odds > 0:
                        ratio_of = mp.mpf(a) * mp.mpf(odds)
                        p, q = both(a, b, ratio_of / (ratio_of + mp.mpf(b)))
                        if min(p, q) > mp.mpf("1e-300"):
                            fs.append(row(2 * a, 2 * b, odds, p, q))
    write("beta_cases.inl", "a, b, x, I, 1 - I.", betas)
    write("f_cases.inl", "both degrees of freedom, x, F, 1 - F.", fs)


if __name__ == "__main__":
    main()
