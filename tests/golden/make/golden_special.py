"""Special functions: arguments over their domains, values by mpmath, and SciPy's values at ends and poles."""
import itertools

import mpmath as mp
import numpy as np
import scipy.special as sp

import golden_parameters
from golden_format import Writer

mp.mp.dps = 50

INF, NAN = np.inf, np.nan
ENDS = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, -3.0, INF, -INF, NAN]
PAIRS = [0.0, -0.0, 1.0, -1.0, 0.5, INF, NAN]


def _erfcinv(q):
    """By Newton's method on the logarithm; q below 1."""
    y = mp.sqrt(-mp.log(q)) if q < mp.mpf("1e-3") else mp.mpf(1)
    for _ in range(80):
        value = mp.erfc(y)
        step = mp.log(value / q) / (-2 / mp.sqrt(mp.pi) * mp.exp(-y * y) / value)
        y -= step
        if abs(step) < mp.mpf(10) ** -45 * abs(y):
            break
    return y


def erfcinv(q):
    if q == 1:
        return mp.mpf(0)
    return _erfcinv(q) if q < 1 else -_erfcinv(2 - q)


def erfinv(x):
    if x == 0:
        return x
    if abs(x) < mp.mpf("1e-10"):
        return x * mp.sqrt(mp.pi) / 2 * (1 + mp.pi * x * x / 12)
    return mp.sign(x) * erfcinv(1 - abs(x))


def ndtr(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def exprel(x):
    return mp.expm1(x) / x if x else mp.mpf(1)


def kl_div(x, y):
    with mp.workdps(90):
        return x * mp.log(x / y) - x + y


def wave(x):
    """The size of Bessel functions' oscillation."""
    return min(1.0, np.sqrt(2 / (np.pi * abs(float(x))))) if x else 1.0


def both(rng, low, high, n):
    return rng.uniform(low, high, n)


def log_uniform(rng, low, high, n):
    return 10.0 ** rng.uniform(low, high, n)


def small(rng, n=8):
    return log_uniform(rng, -300, -1, n)


# name: (value by mpmath, arguments, the size that the bound may refer to instead of the value's own, if any)
def unary(rng):
    r = rng
    mixed = np.concatenate([both(r, -6, 6, 40), small(r), -small(r, 4)])
    positive = np.concatenate([both(r, 0, 3, 20), both(r, 3, 170, 16), small(r)])
    unit = np.concatenate([both(r, 0, 1, 24), small(r), 1 - log_uniform(r, -15, -1, 8)])
    waves = np.concatenate([both(r, 0, 8, 24), both(r, 8, 60, 16), log_uniform(r, 2, 5, 8), small(r)])
    one = lambda x: 1.0
    return {
        "erf": (mp.erf, mixed, None),
        "erfc": (mp.erfc, np.concatenate([mixed, both(r, 5, 26, 12)]), None),
        "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), np.concatenate([mixed, both(r, -26, 100, 12)]), None),
        "erfinv": (erfinv, np.concatenate([2 * unit - 1, small(r)]), None),
        "erfcinv": (erfcinv, 2 * unit, None),
        "ndtr": (ndtr, np.concatenate([mixed, both(r, -37, 8, 12)]), None),
        "ndtri": (lambda p: -mp.sqrt(2) * erfcinv(2 * p), unit, None),
        "log_ndtr": (lambda x: mp.log(ndtr(x)) if x < 0 else mp.log1p(-ndtr(-x)),
                     np.concatenate([mixed, both(r, -60, 8, 12)]), None),
        "gamma": (mp.gamma, np.concatenate([positive, both(r, -20, 0, 12)]), None),
        "gammaln": (lambda x: mp.loggamma(x), np.concatenate([positive, 1 + both(r, -.01, .01, 6), 2 + both(r, -.01, .01, 6),
                                                             log_uniform(r, 3, 30, 6)]), None),
        "digamma": (mp.digamma, np.concatenate([positive, 1.4616321449683623 + both(r, -.01, .01, 6)]), None),
        "expit": (lambda x: 1 / (1 + mp.exp(-x)), np.concatenate([mixed, both(r, -80, 80, 12)]), None),
        "logit": (lambda p: mp.log(p / (1 - p)), unit, None),
        "log_expit": (lambda x: -mp.log1p(mp.exp(-x)), np.concatenate([mixed, both(r, -80, 80, 12)]), None),
        "entr": (lambda x: -x * mp.log(x), positive, None),
        "exprel": (exprel, np.concatenate([mixed, both(r, -80, 80, 12)]), None),
        "cosm1": (lambda x: -2 * mp.sin(x / 2) ** 2, np.concatenate([mixed, both(r, -1000, 1000, 12)]), None),
        "j0": (lambda x: mp.besselj(0, x), waves, wave),
        "j1": (lambda x: mp.besselj(1, x), waves, wave),
        "y0": (lambda x: mp.bessely(0, x), waves, wave),
        "y1": (lambda x: mp.bessely(1, x), waves, wave),
        "i0": (lambda x: mp.besseli(0, x), np.concatenate([mixed, both(r, 6, 80, 16)]), None),
        "i1": (lambda x: mp.besseli(1, x), np.concatenate([mixed, both(r, 6, 80, 16)]), None),
        "i0e": (lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), np.concatenate([mixed, both(r, 6, 300, 16)]), None),
        "i1e": (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), np.concatenate([mixed, both(r, 6, 300, 16)]), None),
        "k0": (lambda x: mp.besselk(0, x), np.concatenate([both(r, 0, 3, 24), both(r, 3, 80, 16), small(r)]), None),
        "k1": (lambda x: mp.besselk(1, x), np.concatenate([both(r, 0, 3, 24), both(r, 3, 80, 16), small(r)]), None),
        "k0e": (lambda x: mp.besselk(0, x) * mp.exp(x), np.concatenate([both(r, 0, 3, 24), both(r, 3, 300, 16), small(r)]), None),
        "k1e": (lambda x: mp.besselk(1, x) * mp.exp(x), np.concatenate([both(r, 0, 3, 24), both(r, 3, 300, 16), small(r)]), None),
        "exp1": (mp.e1, np.concatenate([both(r, 0, 3, 24), both(r, 3, 80, 16), small(r)]), None),
        "expi": (mp.ei, np.concatenate([both(r, -10, 10, 30), both(r, 6, 80, 20), small(r)]), None),
        "si": (mp.si, np.concatenate([both(r, -10, 10, 30), both(r, 6, 80, 20), small(r)]), None),
        "ci": (mp.ci, np.concatenate([both(r, 0, 10, 30), both(r, 6, 80, 20), small(r)]),
               lambda x: min(1.0, 1 / abs(float(x))) if x else 1.0),
        "ellipk": (mp.ellipk, np.concatenate([unit, -log_uniform(r, -10, 30, 12)]), None),
        "ellipe": (mp.ellipe, np.concatenate([unit, -log_uniform(r, -10, 30, 12)]), None),
        "zeta": (mp.zeta, np.concatenate([1 + log_uniform(r, -8, 1, 16), both(r, -1, 1, 16), both(r, -20, 0, 16),
                                          both(r, -150, 0, 8)]), None),
        "loggamma": (mp.loggamma, positive, None),
        # Below 0, where zeros lie close: the bound is one of max(1, |value|).
        "gammaln ": (lambda x: mp.log(abs(mp.gamma(x))), both(r, -30, 0, 24), one),
        "digamma ": (mp.digamma, both(r, -30, 0, 24), one),
    }


def binary(rng):
    r = rng
    a = np.concatenate([both(r, 0, 3, 24), log_uniform(r, -30, 30, 8)])
    b = np.concatenate([both(r, 0, 3, 24), log_uniform(r, -30, 30, 8)])
    close = np.concatenate([b, b * (1 + log_uniform(r, -5, -1, 32))])
    large = both(r, 30, 1000, 16)
    shapes = np.concatenate([both(r, 0, 3, 24), both(r, 0, 30, 24), log_uniform(r, -8, 0, 16), large])
    points = np.concatenate([both(r, 0, 3, 24), both(r, 0, 40, 24), log_uniform(r, -4, 1, 16),
                             large + 3 * np.sqrt(large) * r.normal(size=16)])
    return {
        "xlogy": (lambda x, y: x * mp.log(y), (np.concatenate([a, -a]), np.concatenate([b, b]))),
        "xlog1py": (lambda x, y: x * mp.log1p(y), (a, b)),
        "rel_entr": (lambda x, y: x * mp.log(x / y), (np.concatenate([a, b]), close)),
        "kl_div": (kl_div, (np.concatenate([a, b]), close)),
        "gammainc": (lower, (shapes, points)),
        "gammaincc": (upper, (shapes, points)),
        "pdtr": (lambda k, m: upper(mp.floor(k) + 1, m), (np.floor(both(r, 0, 40, 32)), both(r, 0, 50, 32))),
        "pdtrc": (lambda k, m: lower(mp.floor(k) + 1, m), (np.floor(both(r, 0, 40, 32)), both(r, 0, 50, 32))),
        "chdtr": (lambda v, x: lower(v / 2, x / 2), (both(r, 0, 60, 32), both(r, 0, 80, 32))),
        "chdtrc": (lambda v, x: upper(v / 2, x / 2), (both(r, 0, 60, 32), both(r, 0, 80, 32))),
    }


def lower(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def upper(a, x):
    return mp.gammainc(a, x, mp.inf, regularized=True)


def scipy_of(name):
    if name in ("si", "ci"):
        return lambda x: sp.sici(x)[0 if name == "si" else 1]
    if name == "polygamma":
        return lambda n, x: float(sp.polygamma(n, x))
    return getattr(sp, name)


# Where SciPy gives NaN for a limit, or another sign of zero or side of a limit than the function has.
LEFT_OUT = {"j0": [INF, -INF], "j1": [INF, -INF], "y0": [INF], "y1": [INF], "i0": [INF, -INF], "i1": [INF, -INF, -0.0],
            "i1e": [-0.0], "si": [-0.0], "erfinv": [-0.0], "erfcinv": [1.0]}


def write_special(path, rng):
    """A case: name, dtype, bound in units in the last place, arguments, values, and the sizes that the bound may refer to."""
    w = Writer("special functions: values by mpmath, SciPy's at the ends")

    def case(name, bound, args, values, sizes=None):
        w.text(name.strip())
        w.f64(bound)
        w.varint(len(args))
        for a in args:
            w.array(a)
        w.array(values)
        w.u8(sizes is not None)
        if sizes is not None:
            w.array(np.array(sizes, np.float64))
        w.case()

    def at_ends(f, values, args):
        """SciPy's values; where they are ordinary numbers, of ordinary numbers, mpmath's."""
        out = values.copy()
        for k, v in enumerate(values):
            if np.isfinite(v) and v != 0 and all(np.isfinite(a[k]) for a in args):
                exact = float(mp.re(f(*[mp.mpf(float(a[k])) for a in args])))
                out[k] = exact if np.isfinite(exact) else v
        return out

    def rounded(values, dt):
        return np.array([float(v) for v in values]).astype(dt)

    with np.errstate(all="ignore"):
        for dt in (np.float64, np.float32):
            for name, (f, x, size) in unary(rng).items():
                x = x.astype(dt)
                if dt == np.float32:  # what float64's small numbers have become
                    x = x[(np.abs(x) > 1e-37)]
                if name == "zeta":
                    x = x[x != 1]
                if name == "gammaln" or name == "entr":
                    x = x[x > 0]
                if name in ("erfcinv", "ndtri", "logit", "ellipk", "ellipe", "erfinv"):
                    top = 2 if name == "erfcinv" else 1
                    x = x[(x < top) & (x > -1 if name == "erfinv" else x != 0)]
                if name in ("logit", "ndtri"):
                    x = x[x != 0.5]
                values = rounded([f(mp.mpf(float(v))) for v in x], dt)
                sizes = None if size is None else [max(size(v), abs(float(y))) for v, y in zip(x, values)]
                fine = np.isfinite(values) & (np.abs(values) > np.finfo(dt).tiny)
                case(name, 8 if name.endswith(" ") else 4, [x[fine]], values[fine],
                     None if sizes is None else np.array(sizes)[fine])
                if name.endswith(" "):
                    continue
                ends = np.array([e for e in ENDS if not any(repr(e) == repr(o) for o in LEFT_OUT.get(name, []))], dt)
                values = at_ends(f, scipy_of(name)(ends.astype(np.float64)), [ends])
                usual = np.isfinite(values) & np.isfinite(ends) if size else np.zeros(ends.shape, bool)
                case(name, 4, [ends[~usual]], values[~usual].astype(dt))
                if usual.any():
                    sizes = [max(size(v), abs(float(y))) for v, y in zip(ends[usual], values[usual])]
                    case(name, 4, [ends[usual]], values[usual].astype(dt), sizes)
            for name, (f, (x, y)) in binary(rng).items():
                x, y = x.astype(dt), y.astype(dt)
                values = rounded([f(mp.mpf(float(u)), mp.mpf(float(v))) for u, v in zip(x, y)], dt)
                fine = np.isfinite(values) & (np.abs(values) > np.finfo(dt).tiny)
                case(name, 8, [x[fine], y[fine]], values[fine])
                x, y = [v.ravel().astype(dt) for v in np.meshgrid(PAIRS, PAIRS)]
                fine = ~(np.isnan(x) | np.isnan(y)) | (name not in ("pdtr", "pdtrc"))  # SciPy ignores NaN of some
                x, y = x[fine], y[fine]
                values = scipy_of(name)(x.astype(np.float64), y.astype(np.float64))
                case(name, 8, [x, y], at_ends(f, values, [x, y]).astype(dt))
            with_parameters(case, rng, dt)
    return w.save(path)


def with_parameters(case, rng, dt):
    """The cases of golden_parameters: values and ends; complex results by name.re and name.im."""
    def numbers(args):
        return [[mp.mpf(float(v)) for v in point] for point in zip(*args)]

    for name, (f, args, size) in golden_parameters.with_parameters(rng).items():
        args = [a.astype(dt) for a in args]
        inside = golden_parameters.inside(name, args)
        args = [a[inside] for a in args]
        points = numbers(args)
        exact = [f(*point) for point in points]
        values = np.array([float(mp.re(v)) for v in exact]).astype(dt)
        fine = np.isfinite(values) & (np.abs(values) > np.finfo(dt).tiny)
        sizes = size and np.array([max(size(*point, v), abs(float(v))) for point, v in zip(points, exact)])[fine]
        case(name, 8, [a[fine] for a in args], values[fine], sizes)
        points = list(itertools.product(golden_parameters.ENDS, repeat=len(args)))
        ends = [(point, float(scipy_of(name)(*point)) + 0.0) for point in points if not golden_parameters.left_out(name, point)]
        ends = [(point, v) for point, v in ends if golden_parameters.is_end(v)][::4 if len(args) > 2 else 1]
        case(name, 8, [np.array(a, dt) for a in zip(*(point for point, _ in ends))], np.array([v for _, v in ends], dt))
    for name, (f, args, size) in golden_parameters.with_parts(rng).items():
        args = [a.astype(dt) for a in args]
        points = numbers(args)
        exact = [f(*point) for point in points]
        sizes = np.array([size(*point, v) for point, v in zip(points, exact)])
        for part, of in (("re", mp.re), ("im", mp.im)):
            case(name + "." + part, 8, args, np.array([float(of(v)) for v in exact]).astype(dt), sizes)
