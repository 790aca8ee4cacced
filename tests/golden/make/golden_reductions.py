"""Reductions over every set of axes of ranks 0 to 5, in several layouts and dtypes."""
import itertools

import numpy as np

from golden_format import (ABSOLUTE, CODE, EXACT, MODULUS, NO_DTYPE, NUMPY_DTYPES, ULP, Writer, ZERO_SIGN_FREE,
                           key_items)

PLAIN, TRANSPOSED, SLICED, BROADCAST = range(4)
NAMES = ["sum", "prod", "min", "max", "argmin", "argmax", "any", "all", "count_nonzero", "mean", "var", "std"]
SHAPES = {0: [()], 1: [(7,), (1,), (0,), (333,)], 2: [(5, 3), (1, 9), (0, 3), (4, 0), (17, 33)],
          3: [(3, 5, 7), (2, 0, 3), (1, 3, 1)], 4: [(3, 1, 5, 2), (2, 3, 0, 1)], 5: [(3, 2, 1, 3, 5), (1, 2, 3, 0, 2)]}


class Unsettled(Exception):
    """The value depends on whether the first factor is multiplied by one: (inf + 0j) * (1 + 0j) has a NaN."""


def values(rng, shape, dt, nan):
    n = int(np.prod(shape, dtype=int))
    if dt == np.bool_:
        a = rng.integers(0, 2, n).astype(dt)
    elif dt.kind in "iu":
        a = rng.integers(0 if dt.kind == "u" else -9, 10, n).astype(dt)
    elif dt.kind == "f":
        a = (rng.normal(size=n) * 3).astype(dt)
    else:
        a = (rng.normal(size=n) + 1j * rng.normal(size=n)).astype(dt)
    if nan and n and dt.kind in "fc":
        for k in rng.integers(0, n, 1 + n // 40):
            a[k] = rng.choice([np.nan, np.inf, -np.inf])
    return a.reshape(shape)


def with_layout(w, rng, base, layout):
    """Writes the base array and how to view it; returns the view."""
    w.array(base)
    w.u8(layout)
    if layout == TRANSPOSED:
        perm = [int(i) for i in rng.permutation(base.ndim)]
        w.dims(perm)
        return base.transpose(perm)
    if layout == SLICED:
        key = []
        for n in base.shape:
            stepped = slice(None, None, int(rng.choice([1, -1, 2, -2])))
            key.append(stepped if rng.random() < 0.8 else slice(n // 4, None))
        key_items(w, key)
        return base[tuple(key)]
    if layout == BROADCAST:
        shape = tuple(int(rng.integers(2, 4)) if n == 1 else n for n in base.shape)
        w.dims(shape)
        return np.broadcast_to(base, shape)
    return base


def wide_type(dt):
    return np.clongdouble if dt.kind == "c" else np.longdouble


def rounded(name, x, axis, keepdims, dtype, ddof):
    """The reduction with accumulation in a wider type, and how far a float result may be from it."""
    f = getattr(np, name)
    kw = {"axis": axis, "keepdims": keepdims}
    if name in ("var", "std"):
        kw["ddof"] = ddof
    if dtype is not None:
        kw["dtype"] = dtype
    direct = np.asarray(f(x, **kw))
    if direct.dtype.kind not in "fc" or name in ("min", "max"):
        return direct, (EXACT, 0.0, ZERO_SIGN_FREE)
    source = x if dtype is None else x.astype(dtype)
    kw.pop("dtype", None)
    wide = np.asarray(f(source.astype(wide_type(source.dtype)), **kw)).astype(direct.dtype)
    if direct.dtype == np.float16:
        # NumPy rounds products to float16 at each step and may overflow on the way.
        result = wide
    else:
        result = np.where(np.isfinite(direct) & np.isfinite(wide), wide, direct)
    if name == "prod" and direct.dtype.kind == "c" and not np.all(np.isfinite(result)):
        raise Unsettled
    return result, bound_of(name, source, axis, direct.dtype)


def bound_of(name, x, axis, out):
    """Float sums may be taken in any order: the error is bounded by that of the sum of the magnitudes."""
    if out == np.float16:
        return ULP, 1.0 if name in ("sum", "mean") else 2.0, ZERO_SIGN_FREE
    eps = float(np.finfo(out).eps)
    if name == "prod":
        return (MODULUS if out.kind == "c" else ULP), 4.0 + 2.0 * x.size, ZERO_SIGN_FREE
    with np.errstate(all="ignore"):
        finite = np.where(np.isfinite(x), np.abs(x), 0).astype(float)
    if name in ("sum", "mean"):
        scale = np.asarray(getattr(np, name)(finite, axis=axis))
    else:
        scale = np.asarray(np.mean(finite * finite, axis=axis))
        if name == "std":
            scale = np.sqrt(scale)
    scale = scale[np.isfinite(scale)]
    return ABSOLUTE, 8.0 * eps * float(scale.max() if scale.size else 0.0), ZERO_SIGN_FREE


def write_case(w, rng, name, slot, x, axis, keepdims, dtype=None, ddof=0):
    arg = axis
    if name in ("argmin", "argmax") and axis is not None:
        arg = axis[0]
    try:
        result, policy = rounded(name, x, arg, keepdims, dtype, ddof)
    except Unsettled:
        return
    except (ValueError, TypeError):
        result, policy = None, None
    w.case()
    w.text(name)
    w.varint(slot)
    w.u8(axis is not None)
    if axis is not None:
        w.dims(axis)
    w.u8(keepdims)
    w.u8(CODE[np.dtype(dtype)] if dtype else NO_DTYPE)
    w.f64(ddof)
    w.u8(result is None)
    if result is None:
        return
    w.policy(*policy)
    w.array(result)


def axis_sets(rank):
    for n in range(rank + 1):
        yield from itertools.combinations(range(rank), n)


def all_axes_plan(rng):
    """(base, layout, axis sets): every axis set for two dtypes, a few for the others."""
    for rank, shapes in SHAPES.items():
        for shape in shapes:
            for dt in NUMPY_DTYPES:
                full = dt in (np.int32, np.float64, np.float32)
                layouts = [PLAIN, TRANSPOSED, SLICED, BROADCAST] if full or rng.random() < 0.3 else [PLAIN]
                for layout in layouts:
                    if layout != PLAIN and rank == 0:
                        continue
                    sets = list(axis_sets(rank))
                    limit = len(sets) if full and layout == PLAIN else 5 if full else 2
                    if rank >= 4 and dt == np.float32:
                        limit = 6
                    if limit < len(sets):
                        sets = [sets[i] for i in rng.choice(len(sets), limit, replace=False)]
                    nan = full and layout in (TRANSPOSED, SLICED) and dt != np.int32
                    yield values(rng, shape, dt, nan), layout, sets


def write_reductions(path, rng):
    inputs, cases = Writer("reductions"), Writer("")
    cases.out.clear()
    slots = 0
    for base, layout, sets in all_axes_plan(rng):
        x = with_layout(inputs, rng, base, layout)
        for name in NAMES:
            if x.dtype == np.bool_ and name in ("var", "std") and rng.random() < 0.5:
                continue
            write_case(cases, rng, name, slots, x, None, bool(rng.integers(0, 2)))
            for axes in sets:
                axis = tuple(a - x.ndim if rng.random() < 0.3 else a for a in axes)
                if name in ("argmin", "argmax") and len(axis) != 1:
                    continue
                if x.size > 150 and len(axes) <= 1 and rng.random() < 0.6:
                    continue
                ddof = float(rng.choice([0, 0, 1])) if name in ("var", "std") else 0.0
                dtype = None
                if name in ("sum", "prod", "mean") and rng.random() < 0.2:
                    dtype = rng.choice(["float64", "float32", "complex128"] if name == "mean" or x.dtype.kind == "c"
                                       else ["int64", "float64", "float32", "int16", "complex64"])
                    if x.dtype.kind == "c" and not dtype.startswith("c"):
                        dtype = "complex128"
                    if x.dtype.kind == "f" and dtype.startswith("int"):
                        dtype = "float64"
                write_case(cases, rng, name, slots, x, axis, bool(rng.integers(0, 2)), dtype, ddof)
        slots += 1
    body = inputs.out[inputs.cases_at + 4:]
    del inputs.out[inputs.cases_at + 4:]
    inputs.varint(slots)
    inputs.out += body
    inputs.out += cases.out
    inputs.cases = cases.cases
    return inputs.save(path)
