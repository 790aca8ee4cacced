#!/usr/bin/env python3
"""Times SciPy's special functions on the rows of special.def, on one core: milliseconds of processor time, the least of several.
special.py [--sinter LOG] [--only TEXT] [--wall]: LOG is what `sinter_bench --special` printed; then how many times as fast
sinter is. --wall: of wall time, to be compared with SINTER_BENCH_WALL=1."""
import argparse
import os
import re
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np  # noqa: E402
import scipy.special as sp  # noqa: E402

COUNT = 1000000
rng = np.random.default_rng(3)


def uniform(low, high):
    return rng.uniform(low, high, COUNT)


DOMAINS = {"REAL": uniform, "WHOLE": lambda low, high: np.floor(uniform(low, high)), "CHANCE": lambda: uniform(0, 1)}


def of_rows(f):
    return lambda x: f(x.reshape(-1, 1000), axis=1)


NAMED = {"zeta_of_one": sp.zeta, "lambertw": sp.lambertw, "sici": sp.sici,
         "sph_harm_y": lambda n, m, t, p: sp.sph_harm_y(n.astype(int), m.astype(int), t, p),
         "logsumexp": sp.logsumexp, "softmax": sp.softmax, "log_softmax": sp.log_softmax,
         "logsumexp_of_rows": of_rows(sp.logsumexp), "softmax_of_rows": of_rows(sp.softmax),
         "log_softmax_of_rows": of_rows(sp.log_softmax)}


def rows():
    """(name, function, domains) of every line of special.def."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "special.def")) as f:
        for line in f:
            found = re.match(r"(ROW|NAMED)\((\w+), (.*)\)$", line.strip())
            if found:
                kind, name, domains = found.groups()
                yield name, getattr(sp, name) if kind == "ROW" else NAMED[name], domains


def least_milliseconds(f, x, clock):
    least, calls, begin = float("inf"), 0, time.perf_counter()
    while calls < 3 or time.perf_counter() - begin < 0.5 and calls < 200:
        start = clock()
        f(*x)
        least = min(least, clock() - start)
        calls += 1
    return 1e3 * least


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sinter")
    parser.add_argument("--only", default="")
    parser.add_argument("--wall", action="store_true")
    args = parser.parse_args()
    clock = time.perf_counter if args.wall else time.process_time
    ours = {}
    if args.sinter:
        for line in open(args.sinter):
            parts = [p.strip() for p in line.strip().strip("|").split("|")]
            if len(parts) == 3 and re.match(r"[\d.]+$", parts[1]):
                ours[parts[0]] = [float(p) for p in parts[1:]]
    print("| function | sinter, SciPy, float64 | times | sinter, SciPy, float32 | times |\n| --- | ---: | ---: | ---: | ---: |")
    for name, f, domains in rows():
        if args.only not in name:
            continue
        cells = []
        for k, dtype in enumerate((np.float64, np.float32)):
            x = [v.astype(dtype) for v in eval("[" + domains + "]", dict(DOMAINS))]
            theirs = least_milliseconds(f, x, clock)
            mine = ours[name][k] if name in ours else float("nan")
            cells += [f"{mine:.3g}, {theirs:.3g}", f"{theirs / mine:.1f}"]
        print("| " + " | ".join([name] + cells) + " |", flush=True)


if __name__ == "__main__":
    main()
