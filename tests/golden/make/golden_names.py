"""Systems of a structure, factorisations and functions of matrices that SciPy has; orders, views and parts; masked functions."""
import numpy as np
import scipy.linalg as sl

from golden_calls import Calls, EQUAL, absolute, numbers

FLOATS = ["f4", "f8", "c8", "c16"]


def within(digits_of):
    """A bound for results computed from matrices of a dtype, whose condition is below a few hundred."""
    eps = float(np.finfo(np.dtype(digits_of) if np.dtype(digits_of).kind in "fc" else "f8").eps)

    def policy(r):
        if r.dtype.kind not in "fc" or r.size == 0:
            return EQUAL
        finite = float(np.abs(np.where(np.isfinite(r), r, 0)).max())
        return absolute(2000 * eps * (finite + 1))
    return policy


def matrix(rng, shape, dt):
    return numbers(rng, shape, dt)


def banded(c, rng):
    for dt in FLOATS + ["i4"]:
        for n in [1, 2, 5, 9]:
            for low, up in [(0, 0), (1, 0), (0, 2), (1, 1), (2, 1), (2, 3)]:
                if low >= n or up >= n or n == 1:
                    continue    # SciPy has other rules for these
                ab = matrix(rng, (low + up + 1, n), dt)
                ab[up] += 20 * (1 if dt == "i4" else np.sign(ab[up].real) + (ab[up].real == 0))
                if dt == "f8" and n == 9:
                    ab[up] *= 0.01   # rows must be exchanged
                for b in [matrix(rng, (n,), dt), matrix(rng, (n, 3), "f8")]:
                    if np.linalg.cond(dense(ab, low, up)) < 1e4:
                        c.add("solve_banded", lambda: fixed(sl.solve_banded((low, up), ab, b), ab, b), [ab, b], [low, up],
                              "", within(dt))
        for n in [1, 4, 8]:
            for u in [u for u in [0, 1, 3] if u < n]:
                for lower in [False, True]:
                    ab = matrix(rng, (u + 1, n), dt)
                    main = 0 if lower else u
                    ab[main] = np.abs(ab[main]) + (25 if dt == "i4" else 40)
                    b = matrix(rng, (n, 2), dt)
                    c.add("solveh_banded", lambda: fixed(sl.solveh_banded(ab, b, lower=lower), ab, b), [ab, b], [lower],
                          "", within(dt))
    ab, b = np.ones((3, 4)), np.ones(4)
    c.add("solve_banded", lambda: sl.solve_banded((1, 2), ab, b), [ab, b], [1, 2])
    c.add("solve_banded", lambda: sl.solve_banded((1, 1), ab, b[:3]), [ab, b[:3]], [1, 1])
    c.add("solve_banded", lambda: sl.solve_banded((0, 0), np.zeros((1, 4)), b), [np.zeros((1, 4)), b], [0, 0])
    c.add("solveh_banded", lambda: sl.solveh_banded(-ab[:1], b), [-ab[:1], b], [0])


def dense(ab, low, up):
    n = ab.shape[1]
    a = np.zeros((n, n), ab.dtype)
    for i in range(n):
        for j in range(max(0, i - low), min(n, i + up + 1)):
            a[i, j] = ab[up + i - j, j]
    return a


def fixed(x, *inputs):
    """In the dtype that the inputs promote to, by the rules of numpy.linalg."""
    t = np.result_type(*inputs)
    t = t if t.kind in "fc" else np.dtype("f8")
    return np.asarray(x).astype(t)


def toeplitz(c, rng):
    for dt in FLOATS + ["i4"]:
        for n in [1, 2, 3, 8]:
            first, row = matrix(rng, (n,), dt), matrix(rng, (n,), dt)
            first[0] = row[0] = 30
            for b in [matrix(rng, (n,), dt), matrix(rng, (n, 2), dt)]:
                c.add("solve_toeplitz", lambda: fixed(sl.solve_toeplitz((first, row), b), first, row, b), [first, row, b], [],
                      "", within(dt))
                c.add("solve_toeplitz", lambda: fixed(sl.solve_toeplitz(first, b), first, b), [first, b], [], "", within(dt))
    zero, b = np.array([0.0, 1, 2]), np.ones(3)
    c.add("solve_toeplitz", lambda: sl.solve_toeplitz(zero, b), [zero, b])
    c.add("solve_toeplitz", lambda: sl.solve_toeplitz((zero, b[:2]), b), [zero, b[:2], b])


def factors(c, rng):
    for dt in FLOATS + ["i4"]:
        for n in [1, 2, 3, 5, 8]:
            x = matrix(rng, (n, n), dt)
            for hermitian in [True, False]:
                a = x + (x.conj().T if hermitian else x.T)
                if n > 2:
                    a[np.arange(n), np.arange(n)] *= 0      # blocks of two
                for lower in [True, False]:
                    c.add("ldl", lambda: parts(sl.ldl(a, lower=lower, hermitian=hermitian), a), [a], [lower, hermitian],
                          "", within(dt))
        for shape in [(1, 1), (4, 4), (6, 3), (3, 6), (5, 1), (1, 5)]:
            x = matrix(rng, shape, dt)
            for mode, theirs in [("reduced", "economic"), ("complete", "full")]:
                c.add("qr_pivoted", lambda: parts(sl.qr(x, mode=theirs, pivoting=True), x), [x], [], mode, within(dt))
            c.add("qr_pivoted r", lambda: parts(sl.qr(x, mode="economic", pivoting=True)[1:], x), [x], [], "r", within(dt))
            y = x if dt != "i4" else x.astype("f8")
            c.add("qr raw", lambda: list(np.linalg.qr(y, "raw")), [x], [], "", within(dt))
    x = np.zeros((0, 0))
    c.add("qr raw", lambda: list(np.linalg.qr(np.zeros((3, 0)), "raw")), [np.zeros((3, 0))])
    c.add("ldl", lambda: sl.ldl(np.ones((2, 3))), [np.ones((2, 3))], [1, 1])
    c.add("sqrtm", lambda: sl.sqrtm(np.ones((2, 3))), [np.ones((2, 3))])


def parts(results, x):
    dt = fixed(x, x).dtype
    return [np.asarray(r).astype(np.int64 if np.asarray(r).dtype.kind == "i" else dt) for r in results]


def functions(c, rng):
    for dt in FLOATS + ["i4"]:
        wide = "c8" if dt in ("f4", "c8") else "c16"
        for n in [1, 2, 3, 6]:
            x = matrix(rng, (n, n), dt)
            a = (x @ x.conj().T + 3 * np.eye(n)).astype(dt)
            for m in [a, x + np.eye(n, dtype=x.dtype) * 9, np.diag(np.arange(1, n + 1)).astype(dt)]:
                d = m.astype("c16")
                if np.linalg.cond(d) > 1e3 or np.abs(np.angle(np.linalg.eigvals(d))).max() > 3:
                    continue
                c.add("sqrtm", lambda: np.asarray(sl.sqrtm(d)).astype(wide), [m], [], "", within(dt))
                c.add("logm", lambda: np.asarray(sl.logm(d)).astype(wide), [m], [], "", within(dt))
    jordan = np.array([[4.0, 1, 0], [0, 4, 1], [0, 0, 4]])
    for f in ["sqrtm", "logm"]:
        c.add(f, lambda: np.asarray(getattr(sl, f)(jordan)).astype("c16"), [jordan], [], "", within("f8"))
    rotation = np.array([[0.0, -1], [1, 0]])
    c.add("sqrtm", lambda: np.asarray(sl.sqrtm(rotation)).astype("c16"), [rotation], [], "", within("f8"))
    c.add("logm", lambda: np.asarray(sl.logm(rotation)).astype("c16"), [rotation], [], "", within("f8"))
    c.add("sqrtm", lambda: np.zeros((2, 2), "c16"), [np.zeros((2, 2))])


def orders(c, rng):
    for dt in ["i4", "f8", "c8", "?"]:
        for shape in [(), (1,), (6,), (2, 3), (3, 1, 4), (0, 3), (2, 3, 2, 2)]:
            x = numbers(rng, shape, dt)
            for order in "CFA":
                c.add("ravel", lambda: x.ravel(order), [x], [ord(order)])
                c.add("flatten", lambda: x.flatten(order), [x], [ord(order)])
                c.add("copy", lambda: x.copy(order), [x], [ord(order)])
                for to in [(-1,), (x.size, 1), (2, -1), (1, x.size)]:
                    if x.size and (x.size % 2 == 0 or 2 not in to):
                        c.add("reshape", lambda: x.reshape(to, order=order), [x], [ord(order), *to])
    x = numbers(rng, (2, 3), "f8")
    c.add("ravel", lambda: x.ravel("Q"), [x], [ord("Q")])
    c.add("reshape", lambda: x.reshape((4, 2), order="F"), [x], [ord("F"), 4, 2])


def views(c, rng):
    """Bytes of little-endian numbers."""
    for dt in ["u1", "i2", "i4", "f4", "f8", "c8", "c16"]:
        for to in ["u1", "i2", "u4", "i8", "f4", "f8", "c8", "c16"]:
            for shape in [(), (8,), (3, 4), (2, 3), (0,), (2, 0), (2, 16)]:
                if np.dtype(to).kind in "fc" and np.dtype(dt).kind not in "fc":
                    continue    # any bytes are no numbers to compare
                x = numbers(rng, shape, dt)
                c.add("view", lambda: x.view(to), [x, np.zeros(1, to)])
    for x, to in [(np.zeros((2, 3), "f4"), "f8"), (np.zeros((), "f4"), "u1")]:
        c.add("view", lambda: x.view(to), [x, np.zeros(1, to)])


def complex_parts(c, rng):
    for dt in ["c8", "c16"]:
        for shape in [(), (5,), (3, 4), (0,)]:
            z = numbers(rng, shape, dt, "special")
            for e in [numbers(rng, shape, "f8", "special"), numbers(rng, (), "f4"), numbers(rng, shape, "i4")]:
                for name in ["real", "imag"]:
                    def written(f):
                        y = z.copy()
                        f(y, y.real if name == "real" else y.imag)
                        return y
                    c.add(name + " =", lambda: written(lambda y, p: p.__setitem__(Ellipsis, e)), [z, e])
                    if e.dtype.kind == "f" and e.dtype.itemsize <= np.dtype(dt).itemsize // 2 or e.dtype == "f4":
                        c.add(name + " +=", lambda: written(lambda y, p: p.__iadd__(e)), [z, e])
        z, e = numbers(rng, (4, 5), dt), numbers(rng, (4, 2), "f8")
        mask, at = numbers(rng, (4, 5), "?"), np.array([3, 0])

        def part(name, f):
            y = z.copy()
            f(getattr(y, name))
            return y
        for name in ["real", "imag"]:
            c.add(name + "[:, 1:3] =", lambda: part(name, lambda p: p.__setitem__((slice(None), slice(1, 3)), e)), [z, e])
            c.add(name + "[mask] =", lambda: part(name, lambda p: p.__setitem__(mask, 7)), [z, mask])
            c.add(name + "[at] =", lambda: part(name, lambda p: p.__setitem__(at, e[:2, :1])), [z, at, e[:2, :1]])
        c.add("real =", lambda: part("real", lambda p: p.__setitem__(Ellipsis, np.zeros(3))), [z, np.zeros(3)])
    x = np.ones(3)
    c.add("imag =", lambda: setattr(x.copy(), "imag", x), [x, x])


def masked(c, rng):
    for dt in ["i4", "f4", "f8", "u1"]:
        for shape, of_mask, of_out in [((5,), (5,), (5,)), ((3, 4), (4,), (3, 4)), ((4,), (3, 1), (3, 4)), ((), (2,), (2,)),
                                       ((0, 3), (3,), (0, 3)), ((3,), (4,), (3,)), ((4,), (3, 4), (4,))]:
            x, y = numbers(rng, shape, dt, "special"), numbers(rng, shape, dt, "special")
            mask, out = numbers(rng, of_mask, "?"), numbers(rng, of_out, "f8")
            for name in ["add", "multiply", "maximum", "less"]:
                def f():
                    o = out.copy()
                    return getattr(np, name)(x, y, out=o, where=mask)
                c.add("where " + name, f, [x, y, mask, out])
            for name in ["sqrt", "negative", "sin"]:
                if dt != "f8" and name == "sin" or (dt == "u1" and name == "negative"):
                    continue

                def g():
                    o = out.copy()
                    return getattr(np, name)(x, out=o, where=mask)
                c.add("where " + name, g, [x, mask, out], [], "", (lambda r: absolute(1e-12)) if name == "sin" else EQUAL)
            c.add("where alone", lambda: np.where(np.broadcast_to(mask, np.broadcast_shapes(shape, of_mask)), x + y,
                                                  np.zeros((), dt)), [x, y, mask])
    x = np.ones(3)
    c.add("where add", lambda: np.add(x, x, out=x.copy(), where=np.ones(3, "i4")), [x, x, np.ones(3, "i4"), x])


def selections(c, rng):
    """Order statistics of rows that are long enough for a selection."""
    for dt in ["f4", "f8"]:
        for shape, axis in [((400,), None), ((3, 200), 1), ((200, 3), 0), ((3, 150), None)]:
            for part in [0.0, 0.1, 1.0]:
                x = numbers(rng, shape, dt)
                x[rng.random(shape) < part] = np.nan
                ax = [] if axis is None else [axis]
                for q in [0.0, 0.3, 1.0]:
                    for method in rng.choice(["linear", "hazen", "nearest", "inverted_cdf", "midpoint"], 2, replace=False):
                        c.add("nanquantile", lambda: np.nanquantile(x, q, axis=axis, method=method).astype(dt), [x], [q, *ax],
                              method, absolute(1e-6 if dt == "f4" else 1e-14) if method in ("linear", "hazen") else EQUAL)
                c.add("nanmedian", lambda: np.nanmedian(x, axis=axis).astype(dt), [x], ax)


def write_names(path, rng):
    c = Calls("names")
    for subject in [banded, toeplitz, factors, functions, orders, views, complex_parts, masked, selections]:
        subject(c, rng)
    return c.save(path)
