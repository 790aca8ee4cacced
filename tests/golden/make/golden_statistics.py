"""Order statistics, means, covariances, reductions that leave NaN out, reductions with `initial` and `where`."""
import numpy as np

from golden_calls import Calls, EQUAL, absolute, modulus, numbers
from golden_format import NUMPY_DTYPES

METHODS = ["linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf", "averaged_inverted_cdf",
           "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased",
           "normal_unbiased"]
REAL = [d for d in NUMPY_DTYPES if d.kind != "c"]
SHAPES = [(7,), (1,), (40,), (5, 6), (3, 4, 5), (2, 1, 3)]


def axis_of(rng, rank):
    return int(rng.integers(-rank, rank)) if rng.random() < 0.7 else None


def quantiles(c, rng):
    for dt in REAL:
        for shape in SHAPES:
            for method in METHODS:
                if rng.random() < 0.6:
                    continue
                x = numbers(rng, shape, dt, str(rng.choice(["random", "few", "special"])))
                axis = axis_of(rng, x.ndim)
                q = [0.0, 1.0, 0.5, 0.25, 0.3, 0.95, float(rng.random())][int(rng.integers(0, 7))]
                keep = bool(rng.integers(0, 2))
                name = str(rng.choice(["quantile", "nanquantile", "percentile", "nanpercentile"]))
                scale = 100 if "percentile" in name else 1
                several = rng.random() < 0.4
                wanted = np.array([q, 0.1, 0.75]) * scale if several else q * scale
                f = getattr(np, name)
                if dt == np.float16 and several is False and method not in ("lower", "higher"):
                    continue    # NumPy's own dtype of such results varies between versions
                ax = [] if axis is None else [axis]
                c.add(name, lambda: f(x, wanted, axis=axis, method=method, keepdims=keep),
                      [x, wanted] if several else [x], ([] if several else [wanted]) + ax,
                      method + (" keepdims" if keep else "") + (" several" if several else ""))
    for axes in [(0, 2), (1,), (2, 0, 1)]:
        x = numbers(rng, (3, 4, 5), "f8")
        c.add("quantile", lambda: np.quantile(x, 0.4, axis=axes, keepdims=True), [x], [0.4, *axes], "linear keepdims")
        c.add("median", lambda: np.median(x, axis=axes), [x], axes)
    x = numbers(rng, (9,), "i4")
    c.add("quantile", lambda: np.quantile(x, 1.5), [x], [1.5], "linear")
    c.add("quantile", lambda: np.quantile(x, 0.5, method="best"), [x], [0.5], "best")
    c.add("quantile", lambda: np.quantile(np.array([], "f4"), 0.5), [np.array([], "f4")], [0.5], "linear")
    c.add("quantile", lambda: np.quantile(x.astype("c8"), 0.5), [x.astype("c8")], [0.5], "linear")
    for dt in ["i4", "f4", "f8"]:
        for nan in [False, True]:
            for shape, axis in [((9,), None), ((4, 6), 1), ((4, 6), 0), ((4, 6), None)]:
                x = numbers(rng, shape, dt, "special" if nan else "few")
                w = np.abs(numbers(rng, shape, "f8")).round(1)
                name = "nanquantile" if nan else "quantile"
                ax = [] if axis is None else [axis]
                for q in [0.0, 0.5, 0.9, 1.0]:
                    f = getattr(np, name)
                    c.add(name, lambda: f(x, q, axis=axis, weights=w, method="inverted_cdf"), [x, w], [q, *ax],
                          "inverted_cdf weights")
    w = np.array([1., 2, 0, 4, 1, 1])
    x = numbers(rng, (4, 6), "f8")
    c.add("quantile", lambda: np.quantile(x, 0.5, axis=1, weights=w, method="inverted_cdf"), [x, w], [0.5, 1],
          "inverted_cdf weights")
    c.add("quantile", lambda: np.quantile(x, 0.5, axis=1, weights=-w, method="inverted_cdf"), [x, -w], [0.5, 1],
          "inverted_cdf weights")
    c.add("quantile", lambda: np.quantile(x, 0.5, axis=1, weights=0 * w, method="inverted_cdf"), [x, 0 * w], [0.5, 1],
          "inverted_cdf weights")
    c.add("quantile", lambda: np.quantile(x, 0.5, axis=1, weights=w, method="linear"), [x, w], [0.5, 1],
          "linear weights")


def medians(c, rng):
    for dt in NUMPY_DTYPES:
        for shape in SHAPES + [(0,), (3, 0), (0, 3), ()]:
            for name in ["median", "nanmedian"]:
                x = numbers(rng, shape, dt, str(rng.choice(["random", "few", "special"])))
                if dt.kind == "c" and np.isinf(x).any():
                    continue
                axis = axis_of(rng, x.ndim) if x.ndim else None
                keep = bool(rng.integers(0, 2))
                f = getattr(np, name)
                c.add(name, lambda: f(x, axis=axis, keepdims=keep), [x], [] if axis is None else [axis],
                      "keepdims" if keep else "")


def size_of(x):
    return float(np.abs(np.where(np.isfinite(x), x, 0)).sum()) + 1.0


def bound(x):
    def policy(r):
        if r.dtype.kind not in "fc":
            return EQUAL
        return absolute(8 * float(np.finfo(r.dtype).eps) * size_of(np.asarray(x, "c16")) ** 2)
    return policy


def nan_reductions(c, rng):
    names = ["nansum", "nanprod", "nanmin", "nanmax", "nanargmin", "nanargmax", "nanmean", "nanvar", "nanstd"]
    for dt in NUMPY_DTYPES:
        for name in names:
            for shape in [(7,), (4, 5), (2, 3, 4), (), (0,), (3, 0)]:
                x = numbers(rng, shape, dt, "special")
                if name in ("nanprod", "nanvar", "nanstd") and (dt == np.float16 or dt.kind == "c"):
                    x = np.where(np.isfinite(x), x, np.nan).astype(dt)
                if name == "nanprod" and dt.kind == "f":
                    x = np.clip(x, -2, 2)
                if dt.kind == "c" and name in ("nanargmin", "nanargmax", "nansum", "nanmean"):
                    x = np.where(np.isinf(x), 1, x).astype(dt)
                if x.ndim == 2 and x.size and dt.kind in "fc" and rng.random() < 0.3:
                    x[1] = np.nan
                axis = axis_of(rng, x.ndim) if x.ndim else None
                keep = bool(rng.integers(0, 2))
                f = getattr(np, name)
                policy = bound(x)
                if name in ("nanmin", "nanmax"):
                    policy = EQUAL
                elif dt == np.float16:
                    policy = absolute(0.05 * size_of(x))
                elif name == "nanprod":
                    policy = modulus(300) if dt.kind == "c" else absolute(1e-4 * (2 ** x.size))
                c.add(name, lambda: f(x, axis=axis, keepdims=keep), [x], [] if axis is None else [axis],
                      "keepdims" if keep else "", policy)
    x = numbers(rng, (4, 6), "f8", "special")
    c.add("nanvar ddof", lambda: np.nanvar(x, axis=1, ddof=5), [x], [5, 1], "", bound(x))


def with_where(c, rng):
    for dt in NUMPY_DTYPES:
        for name in ["sum", "prod", "min", "max", "any", "all", "mean", "var", "std"]:
            for shape in [(7,), (4, 5), (0,), (3, 0)]:
                x = numbers(rng, shape, dt, "few")
                mask = rng.random(shape[-1:] if rng.random() < 0.3 else shape) < 0.6
                axis = axis_of(rng, x.ndim)
                f = getattr(np, name)
                option, kw, n = "", {}, []
                if name not in ("any", "all", "mean", "var", "std") and dt != np.bool_:
                    kw["initial"] = int(rng.integers(0, 5))
                    option, n = "initial", [kw["initial"]]
                if dt.kind == "c" and name in ("var", "std"):
                    continue
                policy = bound(x) if dt != np.float16 else absolute(0.05 * size_of(x))
                if name == "prod":
                    x = np.clip(x.real, 0, 2).astype(dt)
                    policy = EQUAL
                c.add(name, lambda: f(x, axis=axis, where=mask, **kw), [x, mask],
                      n + ([] if axis is None else [axis]), option + " where", policy)
                if "initial" in kw:
                    c.add(name, lambda: f(x, axis=axis, **kw), [x], n + ([] if axis is None else [axis]), option,
                          policy)
    x = numbers(rng, (4, 5), "f8")
    c.add("min", lambda: np.min(x, where=x > 0), [x, x > 0], [], "where")
    c.add("sum", lambda: np.sum(x, where=np.ones((2, 5), bool)), [x, np.ones((2, 5), bool)], [], "where")


def averages(c, rng):
    for dt in NUMPY_DTYPES:
        x = numbers(rng, (4, 5), dt, "few")
        for wdt in ["f4", "f8", "i4"]:
            w = np.abs(numbers(rng, (4, 5), wdt, "few")) + np.array(1, wdt)
            for axis in [None, 0, 1]:
                policy = bound(x) if dt != np.float16 else absolute(0.05 * size_of(x))
                ax = [] if axis is None else [axis]
                c.add("average", lambda: np.average(x, axis=axis, weights=w, returned=True), [x, w], ax, "", policy)
        c.add("average", lambda: np.average(x, axis=0, returned=True), [x], [0], "",
              bound(x) if dt != np.float16 else absolute(0.05 * size_of(x)))
    x, w = numbers(rng, (3, 4, 5), "f8"), np.abs(numbers(rng, (5, 3), "f8")) + 1
    c.add("average", lambda: np.average(x, axis=(2, 0), weights=w, returned=True), [x, w], [2, 0], "", bound(x))
    c.add("average", lambda: np.average(x, axis=(2, 0), weights=w, keepdims=True, returned=True), [x, w], [2, 0],
          "keepdims", bound(x))
    c.add("average", lambda: np.average(x, weights=w), [x, w])
    c.add("average", lambda: np.average(x, axis=1, weights=w), [x, w], [1])


def covariances(c, rng):
    for dt in ["bool", "i4", "f4", "f8", "c8", "c16"]:
        for shape in [(6,), (3, 8), (1, 5), (4, 1)]:
            x, y = numbers(rng, shape, dt), numbers(rng, shape, dt)
            for rowvar in [True, False]:
                option = "" if rowvar else "columns"
                c.add("cov", lambda: np.cov(x, rowvar=rowvar), [x], [1], option, bound(x))
                c.add("cov", lambda: np.cov(x, y, rowvar=rowvar, bias=True), [x, y], [0], option, bound(x))
                if shape[-1] > 1 and dt != "bool":
                    c.add("corrcoef", lambda: np.corrcoef(x, y, rowvar=rowvar), [x, y], [], option,
                          absolute(1e-11 if dt not in ("f4", "c8") else 1e-11))
    x = numbers(rng, (3, 8), "f8")
    f, a = np.array([1, 2, 1, 3, 1, 1, 2, 1]), np.abs(numbers(rng, (8,), "f8")) + 0.1
    c.add("cov weights", lambda: np.cov(x, fweights=f, aweights=a), [x, f, a], [], "fa", bound(x))
    c.add("cov weights", lambda: np.cov(x, fweights=f), [x, f], [], "f", bound(x))
    c.add("cov weights", lambda: np.cov(x, aweights=a), [x, a], [], "a", bound(x))


def write_statistics(path, rng):
    c = Calls("statistics")
    quantiles(c, rng)
    medians(c, rng)
    nan_reductions(c, rng)
    with_where(c, rng)
    averages(c, rng)
    covariances(c, rng)
    return c.save(path)
