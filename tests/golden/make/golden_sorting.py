"""Sorting, scans and unique along every axis, of every dtype, with NaNs, zeros of both signs and equal elements."""
import numpy as np

from golden_format import EXACT, MODULUS, NUMPY_DTYPES, UNIT_ULP, Writer, ZERO_SIGN_FREE

SHAPES = [(0,), (1,), (31,), (130,), (5, 7), (7, 1), (0, 3), (4, 5, 6)]
KINDS = ["random", "few", "special", "equal", "sorted", "reversed"]


def parts(rng, n, dt, kind):
    """Elements of a real dtype."""
    if dt == np.bool_:
        return rng.integers(0, 2, n).astype(dt)
    if dt.kind in "iu":
        info = np.iinfo(dt)
        if kind == "few":
            return rng.integers(0, 4, n).astype(dt)
        if kind == "special":
            return rng.choice(np.array([info.min, info.max, 0, 1], dt), n)
        return rng.integers(info.min, info.max, n, dt, endpoint=True)
    if kind == "few":
        return rng.integers(-2, 3, n).astype(dt)
    if kind == "special":
        return rng.choice(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1], dt), n)
    return (rng.normal(size=n) * 3).astype(dt)


def values(rng, shape, dt, kind):
    n = int(np.prod(shape, dtype=int))
    base = "random" if kind in ("equal", "sorted", "reversed") else kind
    if dt.kind == "c":
        half = np.dtype("f4" if dt == np.complex64 else "f8")
        a = np.empty(n, dt)
        a.real, a.imag = parts(rng, n, half, base), parts(rng, n, half, base)
    else:
        a = parts(rng, n, dt, base)
    if kind == "equal" and n:
        a[:] = a[0]
    if kind in ("sorted", "reversed"):
        a.sort()
    if kind == "reversed":
        a = a[::-1]
    return a.reshape(shape)


def write_case(w, name, x, axis, result, policy=(EXACT, 0.0, 0)):
    w.case()
    w.text(name)
    w.u8(axis is not None)
    w.varint(0 if axis is None else axis)
    w.array(x)
    w.policy(*policy)
    w.array(result)


def scan_policy(dt, n):
    if dt.kind == "c":
        return MODULUS, 4.0 + 2.0 * n, ZERO_SIGN_FREE
    return (UNIT_ULP, 4.0 + 2.0 * n, ZERO_SIGN_FREE) if dt.kind == "f" else (EXACT, 0.0, 0)


def write_scans(w, x, axis):
    n = x.size if axis is None else x.shape[axis]
    if x.dtype == np.float16:
        return   # NumPy rounds every partial sum to float16
    if x.dtype.kind != "c" or n <= 31:
        out = np.cumsum(x, axis=axis)
        scale = 1.0 + (float(np.abs(x[np.isfinite(x)]).max(initial=0.0)) if x.dtype.kind in "fc" else 0.0)
        kind, bound, flags = scan_policy(out.dtype, n * scale)
        write_case(w, "cumsum", x, axis, out, (kind, bound, flags))
    if x.dtype.kind in "biu":
        write_case(w, "cumprod", x, axis, np.cumprod(x, axis=axis))


def write_extremes(w, x, axis):
    flat = x.reshape(-1) if axis is None else x
    a = 0 if axis is None else axis
    free = (EXACT, 0.0, ZERO_SIGN_FREE)
    write_case(w, "cummax", x, axis, np.maximum.accumulate(flat, axis=a), free)
    write_case(w, "cummin", x, axis, np.minimum.accumulate(flat, axis=a), free)


def write_sorting(path, rng):
    w = Writer("sorting")
    for dt in NUMPY_DTYPES:
        for shape in SHAPES:
            for kind in KINDS if len(shape) == 1 else ["few", "special"]:
                x = values(rng, shape, dt, kind)
                for axis in [None, *range(len(shape))]:
                    write_case(w, "sort", x, axis, np.sort(x, axis=axis, kind="stable"))
                    write_case(w, "argsort", x, axis, np.argsort(x, axis=axis, kind="stable"))
                    if kind != "special" or dt.kind != "c":
                        write_scans(w, x, axis)
                    write_extremes(w, x, axis)
                found = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
                for name, part in zip(["values", "index", "inverse", "counts"], found):
                    write_case(w, "unique " + name, x, None, part, (EXACT, 0.0, ZERO_SIGN_FREE))
                if x.size:
                    probe = values(rng, (9,), dt, kind)
                    for side in ["left", "right"]:
                        write_case(w, "searchsorted " + side, x, None, np.searchsorted(np.sort(x, axis=None), probe, side))
                        w.array(probe)
    return w.save(path)
