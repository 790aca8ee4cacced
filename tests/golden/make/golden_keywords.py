"""Keywords beside the arguments that most programs write: places for results, axes by name, given means, orders, sparse grids."""
import numpy as np
import scipy.special as sp

from golden_calls import Calls, EQUAL, absolute, modulus, numbers, ulp

INTS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f4", "f8"]


def near(dt, times=64):
    eps = float(np.finfo(np.dtype(dt)).eps)

    def policy(r):
        finite = np.abs(np.where(np.isfinite(r), r, 0))
        return absolute(times * eps * (float(finite.max()) + 1 if finite.size else 1))
    return policy


def scans(c, rng):
    """Into a whole array, and into the middle of one."""
    for name in ["cumsum", "cumprod", "nancumsum", "nancumprod"]:
        f = getattr(np, name)
        for dt, to in [("i4", "i8"), ("u1", "u8"), ("f4", "f4"), ("f8", "f8"), ("f8", "f4"), ("i4", "f8"), ("c16", "c16"), ("u1", "u1")]:
            for shape, axis in [((5,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 4), 1), ((0, 3), 1), ((3, 4), None)]:
                x = numbers(rng, shape, dt, "few" if "prod" in name else "random")
                where = (int(np.prod(shape)),) if axis is None else shape
                base = numbers(rng, (3, *where), to)

                def g():
                    y = base.copy()
                    f(x, axis=axis, out=y[1])
                    return y
                c.add(name + " out", g, [x, base], [] if axis is None else [axis], "",
                      near("f4", 200) if np.dtype(to).kind in "fc" else EQUAL)
    for shape in [(2, 4), (5,)]:
        x, base = numbers(rng, (3, 4), "f8"), numbers(rng, (3, *shape), "f8")

        def wrong():
            y = base.copy()
            np.cumsum(x, axis=0, out=y[1])
            return y
        c.add("cumsum out", wrong, [x, base], [0])
    for dt in ["i8", "f8"]:
        x = numbers(rng, (3, 4), dt)

        def itself(axis):
            y = x.copy()
            np.cumsum(y, axis=axis, out=y)
            return y
        for axis in [0, 1]:
            c.add("cumsum itself", lambda: itself(axis), [x], [axis], "", EQUAL if dt == "i8" else near(dt))

        def overlapping():
            y = np.concatenate([x[0], x[1]])
            z = np.cumsum(y[:6])
            y[2:] = z
            return y
        c.add("cumsum overlapping", overlapping, [x], [], "", EQUAL if dt == "i8" else near(dt))
        base = numbers(rng, (4, 5), dt)

        def more():
            y = base.copy()
            np.cumulative_sum(x, axis=1, include_initial=True, out=y[1:])
            return y
        c.add("cumulative_sum out", more, [x, base], [1], "", EQUAL if dt == "i8" else near(dt))


def transforms(c, rng):
    for name in ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]:
        f = getattr(np.fft, name)
        for shape, axis in [((8,), 0), ((3, 8), 1), ((8, 3), 0)]:
            x = numbers(rng, shape, "f8" if name in ("rfft", "ihfft") else "c16")
            r = f(x, axis=axis)
            base = numbers(rng, (2, *r.shape), r.dtype)

            def g():
                y = base.copy()
                y[1] = f(x, axis=axis)  # what out= means: NumPy 2.4's hfft, ifft2 and irfft2 do not look at it
                return y
            c.add(name + " out", g, [x, base], [axis], "", near("f8"))
    for name in ["fftn", "ifft2", "rfftn", "irfft2"]:
        x = numbers(rng, (4, 6), "f8" if name == "rfftn" else "c16")
        f = getattr(np.fft, name)
        base = numbers(rng, (2, *f(x).shape), f(x).dtype)

        def g():
            y = base.copy()
            y[1] = f(x)
            return y
        c.add(name + " out", g, [x, base], [], "", near("f8"))


def axes_by_name(c, rng):
    for dt in ["i4", "c8"]:
        x = numbers(rng, (1, 3, 1, 4), dt)
        for axis in [(), (0,), (1,), (-1,), (0, 2), (1, 3), (4,), (0, 0)]:
            given = list(axis)
            c.add("flip", lambda: np.flip(x, axis=axis), [x], given)
            c.add("squeeze", lambda: np.squeeze(x, axis=axis), [x], given)
            c.add("expand_dims", lambda: np.expand_dims(x, axis=axis), [x], given)
        for axis in [(0,), (1,), (-1,), (1, 3), (1, 1)]:
            for shift in [0, 1, -2, 9]:
                c.add("roll", lambda: np.roll(x, shift, axis=axis), [x], [shift, *axis])
        for order in [(0, 1, 2, 3), (3, 1, 0, 2), (0, 1), (0, 0, 1, 2)]:
            c.add("transpose", lambda: np.transpose(x, axes=order), [x], order)
        y = numbers(rng, (4, 5), dt)
        for k in [-1, 0, 2]:
            c.add("diagonal", lambda: np.diagonal(x, offset=k, axis1=3, axis2=1), [x], [k, 3, 1])
        a, b = numbers(rng, (2, 3, 4), dt), numbers(rng, (3, 4, 2), dt)
        for i, j, k in [(1, 0, 0), (1, 0, -1), (-2, 0, 1)]:
            c.add("cross", lambda: np.cross(a.transpose(0, 1, 2), b.transpose(0, 2, 1), axisa=i, axisb=j, axisc=k),
                  [a, b.transpose(0, 2, 1).copy()], [i, j, k], "", EQUAL if dt == "i4" else modulus(16))
        del y
    for n in [0, 3, 5]:
        for k in [-1, 0, 2]:
            for m in [None, 4]:
                for name in ["tril_indices", "triu_indices"]:
                    c.add(name, lambda: getattr(np, name)(n, k=k, m=m), [], [n, k] + ([] if m is None else [m]))


def variances(c, rng):
    for name in ["var", "std", "nanvar", "nanstd"]:
        f = getattr(np, name)
        for dt in ["f4", "f8", "c16", "i4"]:
            for shape, axis in [((6,), None), ((4, 5), 0), ((4, 5), 1), ((3, 4, 5), 2)]:
                x = numbers(rng, shape, dt)
                if name[0] == "n" and dt[0] == "f":
                    x[rng.random(shape) < 0.2] = np.nan
                mean = (np.nanmean if name[0] == "n" else np.mean)(x, axis=axis, keepdims=True)
                for ddof in [0, 1]:
                    for given in [mean, mean + 1]:
                        ax = [] if axis is None else [axis]
                        c.add(name, lambda: f(x, axis=axis, ddof=ddof, mean=given), [x, given], [ddof, *ax], "",
                              near("f4" if dt == "f4" else "f8"))
                        mask = rng.random(shape) < 0.8
                        c.add(name + " where", lambda: f(x, axis=axis, ddof=ddof, mean=given, where=mask), [x, given, mask],
                              [ddof, *ax], "", near("f4" if dt == "f4" else "f8"))


def grids(c, rng):
    for dt in ["i4", "f8"]:
        vectors = [numbers(rng, (n,), dt) for n in (3, 2, 4)]
        for count in [1, 2, 3]:
            for indexing in ["xy", "ij"]:
                for sparse in [False, True]:
                    for copy in [False, True]:
                        c.add("meshgrid", lambda: np.meshgrid(*vectors[:count], indexing=indexing, sparse=sparse, copy=copy),
                              vectors[:count], [sparse, copy], indexing)
    for shape in [(3, 4), (2, 3, 4), (5,)]:
        n = int(np.prod(shape))
        idx = rng.integers(0, n, (2, 3))
        for order in "CF":
            c.add("unravel_index", lambda: np.unravel_index(idx, shape, order=order), [idx], shape, order)
            c.add("unravel_index", lambda: np.unravel_index(idx + n, shape, order=order), [idx + n], shape, order)
            at = [rng.integers(0, k, (4,)) for k in shape]
            c.add("ravel_multi_index", lambda: np.ravel_multi_index(at, shape, order=order), at, shape, order)
            off = [rng.integers(-9, 9, (4,)) for k in shape]
            for modes in [("wrap", "clip", "wrap"), ("clip", "wrap", "clip"), ("raise", "clip", "wrap")]:
                c.add("ravel_multi_index", lambda: np.ravel_multi_index(off, shape, order=order, mode=modes[:len(shape)]), off, shape,
                      order + " " + " ".join(modes[:len(shape)]))
    for a, b in [((), (3,)), ((3,), ()), ((2, 1), (3,)), ((3,), (3,))]:
        for axis in [0, -1, 1]:
            for endpoint in [True, False]:
                for count in [0, 1, 2, 5]:
                    x, y = rng.uniform(0.5, 3, a), rng.uniform(0.5, 3, b)
                    base = rng.uniform(1.5, 9, (3,))
                    arrays, given = [x, y], [count, endpoint, axis]
                    c.add("logspace", lambda: np.logspace(x, y, count, endpoint=endpoint, axis=axis), arrays, given, "", ulp(4096))
                    c.add("logspace base", lambda: np.logspace(x, y, count, endpoint=endpoint, axis=axis, base=base),
                          [*arrays, base], given, "", ulp(4096))
                    c.add("geomspace", lambda: np.geomspace(x, y, count, endpoint=endpoint, axis=axis), arrays, given, "", ulp(64))
                    c.add("geomspace", lambda: np.geomspace(-x, -y, count, endpoint=endpoint, axis=axis), [-x, -y], given, "",
                          ulp(64))
                    z = x * np.exp(1j * rng.uniform(-3, 3, a))
                    c.add("geomspace", lambda: np.geomspace(z, y * 1j, count, endpoint=endpoint, axis=axis), [z, y * 1j], given, "",
                          modulus(64))
    c.add("geomspace", lambda: np.geomspace(np.zeros(2), np.ones(2)), [np.zeros(2), np.ones(2)], [50, 1, 0])


def sums(c, rng):
    for dt in FLOATS:
        for shape, axis in [((5,), None), ((3, 4), 0), ((3, 4), 1), ((2, 3, 4), 1)]:
            x, b = numbers(rng, shape, dt, "special"), numbers(rng, shape, dt)
            for y in [x, numbers(rng, shape, dt)]:
                ax = [] if axis is None else [axis]
                for keep in [False, True]:
                    c.add("logsumexp", lambda: sp.logsumexp(y, axis=axis, b=b, keepdims=keep, return_sign=True), [y, b],
                          [keep, *ax], "", near(dt, 256))
                    c.add("logsumexp", lambda: sp.logsumexp(y, axis=axis, keepdims=keep, return_sign=True), [y], [keep, *ax], "",
                          near(dt, 256))


def kinds(c, rng):
    every = ["?"] + INTS + ["f2", "f4", "f8", "c8", "c16"]
    for dt in every:
        x = numbers(rng, (3, 4), dt)
        c.add("kind", lambda: np.array([np.isrealobj(x), np.iscomplexobj(x)]), [x])
        c.add("sort_complex", lambda: np.sort_complex(x), [x])
        for other in every:
            y = np.ones(2, dt if other == dt else other)
            c.add("common_type", lambda: np.zeros(0, np.common_type(x, y)), [x, y])
    for dt in FLOATS + ["c16", "i4"]:
        x = numbers(rng, (3, 4), dt)
        c.add("asarray_chkfinite", lambda: np.asarray_chkfinite(x), [x])
        if dt != "i4":
            y = numbers(rng, (3, 4), dt, "special")
            c.add("asarray_chkfinite", lambda: np.asarray_chkfinite(y), [y])
    ends = [0, 1, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1]
    for v in ends + [-1 - e for e in ends]:
        c.add("min_scalar_type", lambda: np.zeros(0, np.min_scalar_type(v)), [np.asarray(v, "i8")])
    c.add("min_scalar_type", lambda: np.zeros(0, np.min_scalar_type(2**64 - 1)), [np.asarray(2**64 - 1, "u8")])
    for v in [0.0, 1e-9, 64999.0, 65000.0, -7e4, 1e38, 3.5e38, -1e300, np.inf, np.nan]:
        c.add("min_scalar_type", lambda: np.zeros(0, np.min_scalar_type(np.float64(v))), [np.asarray(v)])
        c.add("min_scalar_type", lambda: np.zeros(0, np.min_scalar_type(complex(v, 1))), [np.asarray(complex(v, 1))])
    c.add("min_scalar_type", lambda: np.zeros(0, np.min_scalar_type(True)), [np.asarray(True)])
    c.add("min_scalar_type", lambda: np.zeros(0, np.min_scalar_type(np.ones(3, "i4"))), [np.ones(3, "i4")])


def views(c, rng):
    """Pairs of views of 60 elements, by offset, two extents and two strides each."""
    base = np.arange(60, dtype="i4")
    for _ in range(120):
        pair, given = [], []
        for _ in range(2):
            n, m = rng.integers(0, 5, 2) if rng.random() < 0.1 else rng.integers(1, 5, 2)
            s, t = rng.integers(0, 6, 2)
            at = rng.integers(0, 60 - (max(n, 1) - 1) * s - (max(m, 1) - 1) * t)
            given += [at, n, m, s, t]
            pair.append(np.lib.stride_tricks.as_strided(base[at:], (n, m), (4 * s, 4 * t)))
        c.add("shares_memory", lambda: np.array([np.shares_memory(*pair), np.may_share_memory(*pair)]), [base], given)


def raw(c, rng):
    for dt in ["?", "u1", "i2", "f4", "f8", "c16"]:
        data = rng.integers(0, 2 if dt == "?" else 256, 64).astype("u1")
        for count, offset in [(-1, 0), (2, 0), (-1, 16), (-1, 3), (0, 64), (1, 65), (1, -1), (9, 0), (65, 0), (3, 16)]:
            c.add("frombuffer", lambda: np.frombuffer(data.tobytes(), dt, count=count, offset=offset), [data, np.zeros(0, dt)],
                  [count, offset])


def write_keywords(path, rng):
    c = Calls("keywords")
    for subject in [scans, transforms, axes_by_name, variances, grids, sums, kinds, views, raw]:
        subject(c, rng)
    return c.save(path)
