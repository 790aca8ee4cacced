"""Borders, insertions, deletions, blocks, grids, diagonals, series, views by strides."""
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from golden_calls import Calls, EQUAL, absolute, numbers, ulp

DTYPES = ["bool", "i1", "u2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"]


def pads(c, rng):
    modes = ["constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap"]
    for dt in DTYPES:
        for mode in modes:
            for shape in [(4,), (1,), (3, 4), (2, 3, 2)]:
                if dt in ("bool", "c8", "c16", "f2") and mode in ("linear_ramp", "mean", "median"):
                    continue
                x = numbers(rng, shape, dt)
                if mode in ("median", "mean") and dt == "f4":
                    x = np.round(x * 4) / np.float32(4)
                widths = rng.integers(0, 9, (len(shape), 2))
                kw, option, n = {}, mode, []
                if mode == "constant" and dt != "bool":
                    kw["constant_values"] = (3, 5)
                    n = [3, 5]
                if mode == "linear_ramp":
                    kw["end_values"] = (1, 20)
                    n = [1, 20]
                if mode in ("maximum", "mean", "median", "minimum") and rng.random() < 0.6:
                    kw["stat_length"] = (2, 3)
                    n, option = [2, 3], mode + " length"
                if mode in ("reflect", "symmetric") and dt != "bool" and rng.random() < 0.4:
                    kw["reflect_type"] = "odd"
                    option = mode + " odd"
                policy = absolute(1e-5) if dt == "f4" and mode in ("mean", "linear_ramp") else \
                    absolute(1e-13) if dt == "f8" and mode in ("mean", "linear_ramp") else EQUAL
                c.add("pad", lambda: np.pad(x, widths, mode, **kw), [x, widths], n, option, policy)
    x = np.zeros((0, 3))
    c.add("pad", lambda: np.pad(x, 2), [x, np.array([[2, 2], [2, 2]])], [0, 0], "constant")
    c.add("pad", lambda: np.pad(x, 2, "edge"), [x, np.array([[2, 2], [2, 2]])], [], "edge")
    c.add("pad", lambda: np.pad(x, ((0, 0), (1, 2)), "wrap"), [x, np.array([[0, 0], [1, 2]])], [], "wrap")
    c.add("pad", lambda: np.pad(x, -1), [x, np.array([[-1, -1], [0, 0]])], [0, 0], "constant")
    c.add("pad", lambda: np.pad(x, 1, "best"), [x, np.array([[1, 1], [0, 0]])], [], "best")


def edits(c, rng):
    for dt in DTYPES:
        x, y = numbers(rng, (3, 4), dt), numbers(rng, (2, 4), dt)
        c.add("append", lambda: np.append(x, y), [x, y])
        c.add("append", lambda: np.append(x, y, axis=0), [x, y], [0])
        c.add("append", lambda: np.append(x, y, axis=1), [x, y], [1])
        for at in [0, 2, -1, 3, 4]:
            for axis in [None, 0, 1]:
                ax = [] if axis is None else [axis]
                v = numbers(rng, (4,) if axis == 0 else (3,) if axis == 1 else (2,), dt)
                c.add("insert", lambda: np.insert(x, at, v, axis=axis), [x, v], [at, *ax])
                c.add("delete", lambda: np.delete(x, at, axis=axis), [x], [at, *ax])
        for at in [[0, 2, 2], [3, 0, -1], [1, 1], [], [5]]:
            at = np.array(at, np.int64)
            for axis in [None, 0, 1]:
                ax = [] if axis is None else [axis]
                v = numbers(rng, (), dt)
                c.add("insert at", lambda: np.insert(x, at, v, axis=axis), [x, v, at], ax)
                c.add("delete at", lambda: np.delete(x, at, axis=axis), [x, at], ax)
        v = numbers(rng, (3, 2), dt)
        c.add("insert at", lambda: np.insert(x, np.array([1, 3]), v, axis=1), [x, v, np.array([1, 3])], [1])
        mask = np.array([True, False, True, True])
        c.add("delete at", lambda: np.delete(x, mask, axis=1), [x, mask], [1])
        c.add("delete at", lambda: np.delete(x, mask, axis=0), [x, mask], [0])
        for key in [slice(None, None, 2), slice(3, None, -1), slice(1, 3), slice(2, 2)]:
            part = np.arange(4)[key]
            c.add("delete at", lambda: np.delete(x, key, axis=1), [x, part], [1])
        for shape in [(2, 2), (5, 5), (0, 3), (12,), ()]:
            c.add("resize", lambda: np.resize(x, shape), [x], shape)
        z = x.copy()
        z[0] = z[:, 3] = 0
        for trim in ["fb", "f", "b"]:
            for axis in [None, 0, 1]:
                ax = [] if axis is None else [axis]
                c.add("trim_zeros", lambda: np.trim_zeros(z, trim, axis=axis), [z], ax, trim)
        c.add("block", lambda: np.block([[x, y[0][:3, None]], [y, np.ones((2, 1))]]), [x, y])
    c.add("resize", lambda: np.resize(np.zeros(0, "i4"), (2, 2)), [np.zeros(0, "i4")], [2, 2])
    c.add("trim_zeros", lambda: np.trim_zeros(np.zeros((3, 2))), [np.zeros((3, 2))], [], "fb")
    for dt in ["i4", "f8"]:
        x, m = numbers(rng, (3, 4), dt), rng.random((3, 4)) < 0.5
        v = numbers(rng, (4,), dt)

        def copied():
            y = x.copy()
            np.copyto(y, v, where=m)
            return y
        c.add("copyto", copied, [x, v, m])
        for shape in [(4, 4), (7, 3), (3, 5), (3, 3, 3), (4, 3, 3), (4,), (0, 2)]:
            for wrap in [False, True]:
                a, w = numbers(rng, shape, dt), numbers(rng, (2,), dt)

                def filled():
                    b = a.copy()
                    np.fill_diagonal(b, w, wrap)
                    return b
                c.add("fill_diagonal", filled, [a, w], [], "wrap" if wrap else "")


def splits(c, rng):
    for shape in [(6,), (4, 6), (2, 4, 6), ()]:
        x = numbers(rng, shape, "i4")
        for name in ["hsplit", "vsplit", "dsplit"]:
            f = getattr(np, name)
            for k in [2, 3]:
                c.add(name, lambda: f(x, k), [x], [k])
            c.add(name, lambda: f(x, [1, 3]), [x], [1, 3])
        for axis in range(-len(shape), len(shape)):
            for start in range(-len(shape), len(shape) + 2):
                c.add("rollaxis", lambda: np.rollaxis(x, axis, start), [x], [axis, start])
        for window in [(2,), (2, 3), (7,), (1, 2, 2)]:
            c.add("windows", lambda: sliding_window_view(x, window), [x], window)
    x = numbers(rng, (4, 6), "f4")
    for axis, window in [((1,), (3,)), ((0, 0), (2, 2)), ((-1, 0), (2, 3))]:
        c.add("windows along", lambda: sliding_window_view(x, window, axis), [x, np.array(axis), np.array(window)])


def grids(c, rng):
    for dt in ["bool", "i4", "f8", "c8"]:
        for k in [-3, -1, 0, 1, 2]:
            for shape in [(3,), (0,), (3, 4), (4, 2), (2, 2, 2), ()]:
                x = numbers(rng, shape, dt)
                c.add("diag", lambda: np.diag(x, k), [x], [k])
                c.add("diagflat", lambda: np.diagflat(x, k), [x], [k])
    for n, m, k in [(3, 4, 0), (4, 2, -1), (2, 5, 2), (0, 3, 0)]:
        c.add("tri", lambda: np.tri(n, m, k), [], [n, m, k])
    for n in [0, 1, 2, 7]:
        for end in [True, False]:
            c.add("logspace", lambda: np.logspace(-1, 3, n, end), [], [-1, 3, n], "" if end else "open", ulp(4))
            for a, b in [(1, 1000), (-2, -0.5), (3, 3)]:
                c.add("geomspace", lambda: np.geomspace(a, b, n, end), [], [a, b, n], "" if end else "open", ulp(8))
    c.add("geomspace", lambda: np.geomspace(0, 3, 4), [], [0, 3, 4])
    c.add("mgrid", lambda: np.mgrid[0:3, 1:2:0.25])
    c.add("ogrid", lambda: np.ogrid[0:3, -1:1:5j])
    c.add("indices", lambda: np.indices((2, 3, 2)), [], [2, 3, 2])
    x, y = numbers(rng, (3,), "f4"), numbers(rng, (2,), "f4")
    c.add("r_", lambda: np.r_[x, 0, 1.5, y], [x, y])
    c.add("c_", lambda: np.c_[x, x], [x])
    for name in ["diag_indices_from", "tril_indices_from", "triu_indices_from"]:
        for shape in [(3, 3), (2, 4), (3,)]:
            x = numbers(rng, shape, "i4")
            f = getattr(np, name)
            c.add(name, lambda: f(x), [x])


def write_making(path, rng):
    c = Calls("making")
    pads(c, rng)
    edits(c, rng)
    splits(c, rng)
    grids(c, rng)
    return c.save(path)
