"""Histograms: numbers of bins, rules by name, ranges, edges, weights, densities, several dimensions."""
import math

import numpy as np

from golden_format import ABSOLUTE, EXACT, MODULUS, NUMPY_DTYPES, ULP, Writer

REALS = [dt for dt in NUMPY_DTYPES if dt.kind != "c"]
RULES = ["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"]
RANGES = [None, (0.0, 1.0), (-0.1, 0.7), (-2.5, 40.25), (3.0, 3.0)]


def samples(rng, n, dt, kind):
    if dt == np.bool_:
        return rng.integers(0, 2, n).astype(dt)
    scale = {"normal": 3.0, "unit": 1.0, "skewed": 1.0}[kind]
    x = {"normal": rng.normal, "unit": rng.random, "skewed": rng.standard_exponential}[kind](size=n) * scale
    if dt.kind == "f":
        return x.astype(dt)
    x = np.floor(x * 10)
    return np.abs(x).astype(dt) if dt.kind == "u" else x.astype(dt)


def on_edges(x, bins, limits):
    """Some samples moved onto edges and their neighbours."""
    if x.dtype.kind != "f" or x.size < 30:
        return x
    edges = np.histogram_bin_edges(x, bins, limits).astype(x.dtype)
    x = x.copy()
    k = min(edges.size, x.size // 6)
    x[:k] = edges[:k]
    x[k:2 * k] = np.nextafter(edges[:k], np.array(-np.inf, x.dtype))
    x[2 * k:3 * k] = np.nextafter(edges[:k], np.array(np.inf, x.dtype))
    return x if limits else np.clip(x, edges[0], edges[-1])


def write_array(w, a):
    w.u8(a is not None)
    if a is not None:
        w.array(a)


def write_limits(w, limits):
    w.u8(limits is not None)
    for edge in limits or ():
        w.f64(edge)


def write_bins(w, bins):
    """0 and a number, 1 and a rule, 2 and edges."""
    if isinstance(bins, str):
        w.u8(1)
        w.text(bins)
    elif np.ndim(bins) == 0:
        w.u8(0)
        w.varint(bins)
    else:
        w.u8(2)
        w.array(bins)


def sum_policy(dt):
    if dt.kind == "c":
        return MODULUS, 4.0, 0
    return (ULP, 4.0 if dt == np.float64 else 1.0, 0) if dt.kind == "f" else (EXACT, 0.0, 0)


def exact_sums(x, edges, weights):
    out = np.zeros(edges.size - 1, weights.dtype)
    for k in range(out.size):
        at = (x >= edges[k]) & ((x <= edges[k + 1]) if k == out.size - 1 else (x < edges[k + 1]))
        real = math.fsum(weights.real[at])
        out[k] = real + 1j * math.fsum(weights.imag[at]) if weights.dtype.kind == "c" else real
    return out


def histogram(x, bins, limits, weights, density):
    """Floating-point weights are added without rounding here: NumPy adds some in their own dtype, others in one running
    sum over all bins."""
    if density or weights is None or weights.dtype.kind in "biu":
        return np.histogram(x, bins, limits, weights=weights, density=density)
    edges = np.histogram_bin_edges(x, bins, limits)
    return exact_sums(x, edges, weights), edges


def write_case(w, x, bins, limits=None, weights=None, density=False, policy=(EXACT, 0.0, 0)):
    try:
        hist, edges = histogram(x, bins, limits, weights, density)
    except ValueError:   # bins too narrow
        hist = edges = None
    w.case()
    w.text("histogram")
    w.array(x)
    write_bins(w, bins)
    write_limits(w, limits)
    write_array(w, weights)
    w.u8(density)
    w.policy(*policy)
    write_array(w, hist)
    write_array(w, edges)


def write_grid(w, sample, bins, limits, weights=None, density=False):
    hist, edges = np.histogramdd(sample, bins, limits, density=density, weights=weights)
    w.case()
    w.text("histogramdd")
    w.array(sample)
    for b in bins:
        write_bins(w, b)
    w.u8(limits is not None)
    for one in limits or ():
        write_limits(w, one)
    write_array(w, weights)
    w.u8(density)
    w.policy(ULP if density else EXACT, 8.0 if density else 0.0, 0)
    w.array(hist)
    for e in edges:
        w.array(e)


def write_histograms(path, rng):
    w = Writer("histograms")
    counted = lambda dt: dt.kind != "f" or dt.itemsize > 2
    for dt in REALS:
        for n in [0, 1, 40, 130]:
            for kind in ["normal", "unit"]:
                x = samples(rng, n, dt, kind)
                for bins in [1, 7, 10]:
                    for limits in RANGES:
                        write_case(w, on_edges(x, bins, limits), bins, limits)
                write_case(w, x, np.array([-1.5, 0.0, 0.25, 0.25, 1, 6]))
                write_case(w, x, np.array([-3, 0, 1, 4], np.int64))
        x = samples(rng, 200, dt, "normal")
        write_case(w, x, 5, density=True, policy=(ULP, 8.0, 0))
        write_case(w, x, np.array([-4.0, 0.0, 1.0, 100.0]), density=True, policy=(ULP, 8.0, 0))
        for rule in RULES:
            for n in [0, 1, 2, 3, 57, 100] + [1000] * (dt.str[1:] in ("f4", "f8", "u1")):
                for kind in ["normal", "skewed"]:
                    if counted(dt) or rule in ("sqrt", "sturges", "rice", "fd"):
                        write_case(w, samples(rng, n, dt, kind), rule)
            if counted(dt):
                write_case(w, samples(rng, 150, dt, "normal"), rule, (-2.0, 2.5))
    x = samples(rng, 200, np.dtype("f8"), "normal")
    for dt in NUMPY_DTYPES:
        weights = samples(rng, 200, dt, "unit") if dt.kind != "c" else (rng.random(200) + 1j * rng.random(200)).astype(dt)
        write_case(w, x, 6, None, weights, policy=sum_policy(dt))
        if dt != np.bool_:
            write_case(w, x, np.array([-2.0, 0.5, 1.0, 3.0]), None, weights, policy=sum_policy(dt))
        if dt not in (np.bool_, np.float16):
            write_case(w, x, 6, (-1.0, 1.0), weights, True, (ABSOLUTE, 2e-6 if dt.str[1:] in ("f4", "c8") else 1e-14, 0))
    for dt in REALS:
        sample = samples(rng, 3 * 120, dt, "normal").reshape(120, 3)
        write_grid(w, sample, [3, 4, 2], None)
        write_grid(w, sample, [3, np.array([-2.0, 0.0, 0.5, 2.0]), 2], [None, None, (-1.0, 1.5)])
        if dt != np.float16:
            write_grid(w, sample, [2, 2, 3], [(-5.0, 5.0)] * 3, density=True)
        write_grid(w, sample, [2, 2, 3], None, np.arange(120, dtype=np.float64))
    return w.save(path)
