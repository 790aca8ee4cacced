"""Sampled data, polynomials, windows, elementwise functions beside the ufuncs of elementwise.bin."""
import numpy as np

from golden_calls import Calls, EQUAL, absolute, modulus, numbers, ulp
from golden_format import NUMPY_DTYPES

REAL = [d for d in NUMPY_DTYPES if d.kind != "c"]


def close(r):
    """A few units in the last place of the largest element: sums in another order."""
    if r.dtype.kind not in "fc" or r.size == 0:
        return EQUAL
    finite = np.abs(np.where(np.isfinite(r), r, 0)).max()
    return absolute(64 * float(np.finfo(r.dtype).eps) * (float(finite) + 1))


def gradients(c, rng):
    for dt in ["i4", "f4", "f8", "c16", "u1"]:
        for shape in [(5,), (3,), (4, 5), (3, 4, 3)]:
            f = numbers(rng, shape, dt)
            for edge in [1, 2]:
                for axis in [None, 0, -1]:
                    ax = [] if axis is None else [axis]
                    for d in [1.0, 0.25]:
                        if dt == "u1":
                            continue
                        c.add("gradient", lambda: np.gradient(f, d, axis=axis, edge_order=edge), [f], [edge, d, *ax],
                              "", close)
        f, x, y = numbers(rng, (4, 5), dt), np.array([0, 1, 3, 4.5]), np.array([1, 2, 4, 7, 8.5])
        if dt != "u1":
            for edge in [1, 2]:
                c.add("gradient at", lambda: np.gradient(f, x, y, edge_order=edge), [f, x, y], [edge], "", close)
    f = numbers(rng, (2,), "f8")
    c.add("gradient", lambda: np.gradient(f, 1.0, edge_order=2), [f], [2, 1.0])
    c.add("gradient", lambda: np.gradient(f[:1], 1.0, edge_order=1), [f[:1]], [1, 1.0])


def interpolation(c, rng):
    xp = np.sort(rng.normal(size=7))
    for dt in ["f8", "f4", "i4", "c16"]:
        fp = numbers(rng, (7,), dt)
        for shape in [(), (9,), (3, 4), (0,)]:
            x = np.asarray(rng.normal(size=shape) * 2)
            if x.ndim:
                x = np.where(rng.random(shape) < 0.3, rng.choice(np.append(xp, [np.nan, np.inf, -np.inf])), x)
            policy = EQUAL if dt != "c16" else close
            c.add("interp", lambda: np.interp(x, xp, fp), [x, xp, fp], [], "", policy)
            c.add("interp", lambda: np.interp(x, xp, fp, left=-1, right=5), [x, xp, fp], [-1, 5], "ends", policy)
            if shape == (9,) and dt != "c16":
                y = np.where(np.isfinite(x), x, 0)
                c.add("interp", lambda: np.interp(y, xp, fp, period=1.5), [y, xp, fp], [1.5], "period", close)
    special = np.array([1.0, np.inf, np.nan, -np.inf, 2, 2, 3])
    x = np.linspace(xp[0] - 1, xp[-1] + 1, 40)
    c.add("interp", lambda: np.interp(x, xp, special), [x, xp, special])
    for n in [1, 2]:
        c.add("interp", lambda: np.interp(x, xp[:n], xp[:n]), [x, xp[:n], xp[:n]])
    c.add("interp", lambda: np.interp(x, xp, xp[:3]), [x, xp, xp[:3]])
    c.add("interp", lambda: np.interp(x, xp[:0], xp[:0]), [x, xp[:0], xp[:0]])


def sums(c, rng):
    for dt in NUMPY_DTYPES:
        for n, m in [(1, 1), (5, 3), (3, 5), (8, 4), (30, 7), (2, 2), (50, 40)]:
            x, y = numbers(rng, (n,), dt, "few"), numbers(rng, (m,), dt, "few")
            for mode in ["full", "same", "valid"]:
                c.add("convolve", lambda: np.convolve(x, y, mode), [x, y], [], mode, close)
                c.add("correlate", lambda: np.correlate(x, y, mode), [x, y], [], mode, close)
    x, y = numbers(rng, (9,), "f4"), numbers(rng, (3,), "i4")
    c.add("convolve", lambda: np.convolve(x, y), [x, y], [], "full", close)
    y = np.array([1.0, np.nan, np.inf])
    c.add("convolve", lambda: np.convolve(x, y), [x, y], [], "full", close)
    c.add("convolve", lambda: np.convolve(x[:0], y), [x[:0], y], [], "full")
    for dt in ["i4", "f4", "f8", "c16"]:
        for shape in [(1,), (6,), (4, 5), (0,)]:
            y, x = numbers(rng, shape, dt), np.sort(rng.normal(size=shape[-1]))
            for axis in range(-len(shape), len(shape)):
                c.add("trapezoid", lambda: np.trapezoid(y, dx=0.5, axis=axis), [y], [axis, 0.5], "", close)
            c.add("trapezoid", lambda: np.trapezoid(y, x), [y, x], [-1], "", close)
    for dt in ["i4", "f4", "f8", "c16", "u1"]:
        for shape in [(6,), (4, 5), (0,), (1,), ()]:
            x = numbers(rng, shape, dt)
            e = numbers(rng, (2,), dt)
            c.add("ediff1d", lambda: np.ediff1d(x), [x])
            c.add("ediff1d", lambda: np.ediff1d(x, to_end=e, to_begin=e[:1]), [x, e])
    for dt in ["f4", "f8", "i4"]:
        for shape in [(9,), (3, 7)]:
            x = (numbers(rng, shape, dt) * (1 if dt == "i4" else 3)).astype(dt)
            policy = close
            c.add("unwrap", lambda: np.unwrap(x), [x], [-1], "", policy)
            c.add("unwrap", lambda: np.unwrap(x, axis=0, period=5.0), [x], [0, 5], "period", policy)
            c.add("unwrap", lambda: np.unwrap(x, discont=4.0), [x], [-1, 4], "discont", policy)


def choices(c, rng):
    for dt in ["i4", "f4", "f8", "c8", "bool"]:
        x, y = numbers(rng, (4, 5), dt), numbers(rng, (5,), "i2")
        a, b = rng.random((4, 5)) < 0.4, rng.random((4, 1)) < 0.5
        c.add("select", lambda: np.select([a, b], [x, y], 3), [a, b, x, y], [3])
    c.add("select", lambda: np.select([a, y], [x, y], 3), [a, y, x, y], [3])
    for dt in NUMPY_DTYPES:
        for shape in [(17,), (3, 8), (2, 5), (0,), (1,)]:
            x = numbers(rng, shape, dt, "few")
            for order in ["big", "little"]:
                for axis in [None, 0, -1]:
                    ax = [] if axis is None else [axis]
                    c.add("packbits", lambda: np.packbits(x, axis=axis, bitorder=order), [x], ax, order)
                    if dt == np.uint8:
                        z = rng.integers(0, 256, shape).astype("u1")
                        c.add("unpackbits", lambda: np.unpackbits(z, axis=axis, bitorder=order), [z], ax, order)
                        for n in [3, 50, -2] if z.size else []:  # of nothing NumPy leaves the bits as they were
                            c.add("unpackbits", lambda: np.unpackbits(z, axis=axis, bitorder=order, count=n), [z],
                                  [n, *ax], order + " count")


def elements(c, rng):
    for dt in NUMPY_DTYPES:
        x, y = numbers(rng, (25,), dt, "special"), numbers(rng, (25,), dt, "special")
        wide = 8 * float(np.finfo(dt).eps) if dt.kind in "fc" else 1e-2 if dt.itemsize == 1 else 1e-13
        for name in ["isposinf", "isneginf", "isreal", "iscomplex", "modf", "frexp", "bitwise_count"]:
            if name in ("modf", "frexp") and dt == np.bool_:
                continue
            f = getattr(np, name)
            c.add(name, lambda: f(x), [x])
        if dt != np.bool_ and dt.kind != "c":
            w = np.where(y == 0, np.array(1, dt), y)
            c.add("divmod", lambda: np.divmod(x, w), [x, w])
        if dt.kind != "c":
            c.add("sinc", lambda: np.sinc(x), [x], [], "", absolute(2e-2 if dt == np.float16 else 1e-5 if dt == np.float32 else 1e-13))
            v = (x % 50 if dt.kind in "iu" else x).astype(dt)
            if dt != np.bool_:
                c.add("logaddexp2", lambda: np.logaddexp2(v, y), [v, y], [], "",
                      lambda r: absolute(64 * 8 * float(np.finfo(r.dtype).eps)))
        for name in ["gcd", "lcm"]:
            f = getattr(np, name)
            c.add(name, lambda: f(x, y), [x, y])
        c.add("ldexp", lambda: np.ldexp(x, np.arange(-12, 13)), [x, np.arange(-12, 13)])
    for dt in ["i1", "i2", "i4", "i8"]:
        info = np.iinfo(dt)
        x = np.array([info.min, info.max, 0, -1, 1, info.min + 1, 6], dt)
        y = np.array([4, info.max, 0, 0, 7, 2, 15], dt)
        c.add("gcd", lambda: np.gcd(x, y), [x, y])
        c.add("bitwise_count", lambda: np.bitwise_count(x), [x])
    for dt in ["u1", "u2", "u4", "u8"]:
        x = rng.integers(0, np.iinfo(dt).max, 30, dt, endpoint=True)
        c.add("bitwise_count", lambda: np.bitwise_count(x), [x])
        c.add("gcd", lambda: np.gcd(x, x[::-1]), [x, x[::-1]])
    for n in [-2000, -1080, -1074, -1023, -1, 0, 1, 1023, 1030, 2000]:
        x = np.array([1.0, -3.3, 5e-324, 1.7e308, 0.0, -0.0, np.inf, np.nan])
        e = np.full(8, n)
        c.add("ldexp", lambda: np.ldexp(x, e), [x, e])
    x = np.array([1 + 1e-14j, 2 - 3e-15j])
    c.add("real_if_close", lambda: np.real_if_close(x), [x], [100])
    c.add("real_if_close", lambda: np.real_if_close(x, 1), [x], [1])
    c.add("real_if_close", lambda: np.real_if_close(x.real), [x.real], [100])


def polynomials(c, rng):
    for dt in ["i4", "f4", "f8", "c16"]:
        for n, m in [(1, 1), (4, 2), (2, 5), (6, 6)]:
            p, q = numbers(rng, (n,), dt), numbers(rng, (m,), dt)
            q[0] = 3
            for name in ["polyadd", "polysub", "polymul"]:
                f = getattr(np, name)
                c.add(name, lambda: f(p, q), [p, q], [], "", close)
            c.add("polydiv", lambda: np.polydiv(p, q), [p, q], [], "", close)
            x = numbers(rng, (3, 4), dt, "few")
            c.add("polyval", lambda: np.polyval(p, x), [p, x], [], "", close)
            for k in [0, 1, 2]:
                c.add("polyder", lambda: np.polyder(p, k), [p], [k], "", close)
                c.add("polyint", lambda: np.polyint(p, k, k=2), [p], [k, 2], "", close)
            c.add("poly", lambda: np.poly(p), [p], [], "", close)
            c.add("vander", lambda: np.vander(p), [p], [], "", close)
            for columns in [0, 1, 3]:
                c.add("vander", lambda: np.vander(p, columns, increasing=True), [p], [columns], "increasing", close)
    p = np.array([0.0, 0, 1, -6, 11, -6, 0, 0])
    c.add("sorted roots", lambda: np.sort_complex(np.roots(p)), [p], [], "", absolute(1e-12))
    c.add("sorted roots", lambda: np.sort_complex(np.roots(p[:2])), [p[:2]])
    c.add("sorted roots", lambda: np.sort_complex(np.roots([1.0, 0, 1])), [np.array([1.0, 0, 1])], [], "",
          absolute(1e-13))
    x, y = np.linspace(0, 2, 20), rng.normal(size=20)
    for degree in [0, 1, 3]:
        c.add("polyfit", lambda: np.polyfit(x, y, degree), [x, y], [degree], "", absolute(1e-11))
        c.add("polyfit", lambda: np.polyfit(x, y, degree, w=x + 1), [x, y, x + 1], [degree], "", absolute(1e-11))
    y = rng.normal(size=(20, 3))
    c.add("polyfit", lambda: np.polyfit(x, y, 2), [x, y], [2], "", absolute(1e-11))
    c.add("polyfit", lambda: np.polyfit(x, y, -1), [x, y], [-1])
    c.add("polyfit", lambda: np.polyfit(x, y[:4], 1), [x, y[:4]], [1])


def windows(c, rng):
    for n in [-1, 0, 1, 2, 3, 8, 31]:
        for name in ["bartlett", "blackman", "hamming", "hanning"]:
            f = getattr(np, name)
            c.add(name, lambda: f(n), [], [n], "", absolute(4e-16))
        for beta in [0.0, 3.0, 14.0]:
            if n != 0 and n != -1:
                c.add("kaiser", lambda: np.kaiser(n, beta), [], [n, beta], "", absolute(4e-15))
    x = np.array([0.0, 0.5, -3, 8, 8.5, 20, 100, -700, np.nan])
    c.add("i0", lambda: np.i0(x), [x], [], "", ulp(12))


def equivalences(c, rng):
    for dt in NUMPY_DTYPES:
        x = numbers(rng, (3, 4), dt, "few")
        y = x.copy()
        y[1, 2] = y[1, 2] + 1
        for v in [x, x[0], x[:1], y, x[:2], np.repeat(x[:1], 3, 0), x.astype("c16"), x[0, 0], x[:0]]:
            c.add("array_equiv", lambda: np.bool_(np.array_equiv(x, v)), [x, v])
            c.add("array_equiv", lambda: np.bool_(np.array_equiv(np.repeat(x[:1], 3, 0), v)), [np.repeat(x[:1], 3, 0), v])
    x = np.array([1.0, np.nan])
    c.add("array_equiv", lambda: np.bool_(np.array_equiv(x, x)), [x, x])
    c.add("array_equiv", lambda: np.bool_(np.array_equiv(x[:0], x[:0])), [x[:0], x[:0]])


def write_numerics(path, rng):
    c = Calls("numerics")
    gradients(c, rng)
    interpolation(c, rng)
    sums(c, rng)
    choices(c, rng)
    elements(c, rng)
    polynomials(c, rng)
    windows(c, rng)
    equivalences(c, rng)
    return c.save(path)
