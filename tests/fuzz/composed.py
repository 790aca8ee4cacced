"""Functions of the programs that are not NumPy's own under their name; composed.cpp has them by sinter.

Of whole numbers all of UNARY, BINARY, REDUCTIONS and STORED give whole numbers; those of the INEXACT tables round.
"""
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
import scipy.special

AT, VALUES = np.array([-4.0, -2, 0, 1, 5]), np.array([0.0, 2, 8, 4, -4])  # slopes without rounding


def at_least(rank):
    return lambda a: a.ndim >= rank and a.size > 0


def vector(a):
    return a.ndim == 1 and a.size > 0


def matrix(a):
    return a.ndim == 2 and a.size > 0


def real(a):
    return a.dtype.kind in "biuf"


def number(a):
    return a.dtype.kind in "iuf"


def both(*tests):
    return lambda a: all(t(a) for t in tests)


def of_length(n):
    """At least n along the last axis."""
    return lambda a: a.ndim >= 1 and a.shape[-1] >= n and a.size > 0


def counts(n):
    return np.arange(n) % 3


def padded(mode, width=1, **kw):
    return lambda a: np.pad(a, width, mode, **kw)


# Functions of the families "names" and "functions": the value by NumPy, and what its operand must be.
NAMES = {
    "ravel F": lambda a: a.ravel("F"), "sort all": lambda a: np.sort(a, axis=None),
    "cumsum all": lambda a: np.cumsum(a), "frexp mantissa": lambda a: np.frexp(a)[0],
    "frexp exponent": lambda a: np.frexp(a)[1], "modf whole": lambda a: np.modf(a)[1],
    "pad edge": padded("edge"), "pad wrap": padded("wrap", 2), "fortran": lambda a: np.asfortranarray(a),
}
UNARY = {
    "pad constant": (padded("constant", ((1, 2),)), at_least(1)),
    "pad reflect": (padded("reflect", 2), at_least(1)),
    "pad symmetric": (padded("symmetric", 3), at_least(1)),
    "pad maximum": (padded("maximum"), both(at_least(1), real)),
    "pad minimum": (padded("minimum", 2, stat_length=2), both(at_least(1), real)),
    "roll 1": (lambda a: np.roll(a, 1), at_least(1)),
    "roll axes": (lambda a: np.roll(a, (1, -2), (0, -1)), at_least(2)),
    "tile": (lambda a: np.tile(a, 2), at_least(0)),
    "repeat 2": (lambda a: np.repeat(a, 2, -1), at_least(1)),
    "repeat counts": (lambda a: np.repeat(a, counts(a.shape[0]), 0), at_least(1)),
    "diff": (lambda a: np.diff(a), both(at_least(1), lambda a: a.dtype.kind in "iufc")),
    "diff twice": (lambda a: np.diff(a, 2, 0, prepend=a[:1]), both(at_least(1), lambda a: a.dtype.kind in "iufc")),
    "cumsum 0": (lambda a: np.cumsum(a, 0), at_least(1)),
    "nancumsum": (lambda a: np.nancumsum(a, -1), at_least(1)),
    "cummax": (lambda a: np.maximum.accumulate(a, 0), both(at_least(1), number)),
    "cummin": (lambda a: np.minimum.accumulate(a, -1), both(at_least(1), number)),
    "gradient twice": (lambda a: np.gradient(a, axis=-1) * 2, both(of_length(2), number)),
    "trapezoid twice": (lambda a: np.trapezoid(a) * 2, both(of_length(2), number)),
    "interp": (lambda a: np.interp(a, AT, VALUES), number),
    "unwrap": (lambda a: np.unwrap(a, period=4), both(at_least(1), lambda a: a.dtype.kind == "i" and a.itemsize > 2)),
    "vander": (lambda a: np.vander(a, 3), both(vector, number)),
    "packbits": (lambda a: np.packbits(a), both(at_least(1), lambda a: a.dtype.kind in "biu")),
    "packbits rows": (lambda a: np.packbits(a, -1, "little"), both(at_least(1), lambda a: a.dtype.kind in "biu")),
    "unpackbits": (lambda a: np.unpackbits(a), both(at_least(1), lambda a: a.dtype == np.uint8)),
    "select": (lambda a: np.select([a > 2, a < 1], [a, a * a], 7), number),
    "piecewise": (lambda a: np.piecewise(a, [a < 1, a >= 3], [5, lambda x: x + x]), number),
    "insert": (lambda a: np.insert(a, 1, a[0], axis=0), both(at_least(1), lambda a: a.shape[0] > 1)),
    "insert all": (lambda a: np.insert(a, 0, 1), at_least(1)),
    "delete": (lambda a: np.delete(a, -1, -1), at_least(1)),
    "delete slice": (lambda a: np.delete(a, slice(None, None, 2), 0), at_least(1)),
    "resize": (lambda a: np.resize(a, (2, 3)), at_least(0)),
    "rollaxis": (lambda a: np.rollaxis(a, -1), at_least(2)),
    "hsplit": (lambda a: np.hsplit(a, [1])[1], at_least(2)),
    "array_split": (lambda a: np.array_split(a, 2)[1], at_least(1)),
    "block": (lambda a: np.block([[a, a], [a, a]]), matrix),
    "window sums": (lambda a: sliding_window_view(a, 2, -1).sum(-1), both(of_length(2), lambda a: a.dtype.kind in "iuf")),
    "window maxima": (lambda a: sliding_window_view(a, 2, -1).max(-1), both(of_length(2), number)),
    "diag": (lambda a: np.diag(a, 1), lambda a: vector(a) or matrix(a)),
    "diagflat": (lambda a: np.diagflat(a), lambda a: 0 < a.size < 9),
    "diagonal": (lambda a: np.diagonal(a, 0, -1, 0), at_least(2)),
    "triu": (lambda a: np.triu(a, 1), at_least(2)),
    "indices": (lambda a: a + np.indices(a.shape)[-1], both(at_least(1), lambda a: a.dtype.kind in "iu" and a.itemsize < 8)),
    "sort 0": (lambda a: np.sort(a, 0), both(at_least(1), real)),
    "argsort": (lambda a: np.argsort(a, -1, kind="stable"), both(at_least(1), real)),
    "unique": (lambda a: np.unique(a), real),
    "flatnonzero": (lambda a: np.flatnonzero(a), at_least(0)),
    "bincount": (lambda a: np.bincount(a), both(vector, lambda a: a.dtype.kind in "biu" and a.itemsize < 8 and a.min() >= 0 and
                                                a.max() < 90)),
    "modf fraction": (lambda a: np.modf(a)[0], lambda a: a.dtype.kind == "f"),
    "real_if_close": (lambda a: np.real_if_close(a), lambda a: a.dtype.kind in "fc"),
    "apply_along_axis": (lambda a: np.apply_along_axis(lambda v: v[::-1] + v, 0, a), both(at_least(1), number)),
}
BINARY = {
    "convolve": (lambda a, b: np.convolve(a, b), lambda a, b: vector(a) and vector(b)),
    "convolve same": (lambda a, b: np.convolve(a, b, "same"), lambda a, b: vector(a) and vector(b)),
    "correlate valid": (lambda a, b: np.correlate(a, b, "valid"), lambda a, b: vector(a) and vector(b)),
    "polyval": (lambda a, b: np.polyval(a, b), lambda a, b: vector(a) and a.size < 5 and number(a) and number(b)),
    "polyadd": (lambda a, b: np.polyadd(a, b), lambda a, b: vector(a) and vector(b) and number(a) and number(b)),
    "polysub": (lambda a, b: np.polysub(a, b), lambda a, b: vector(a) and vector(b) and number(a) and number(b)),
    "polymul": (lambda a, b: np.polymul(a, b), lambda a, b: vector(a) and vector(b) and number(a) and number(b) and
                a[0] != 0 and b[0] != 0),  # NumPy takes zeros in front away
    "divmod quotient": (lambda a, b: np.divmod(a, b)[0], lambda a, b: number(a) and number(b) and np.all(b != 0)),
    "divmod remainder": (lambda a, b: np.divmod(a, b)[1], lambda a, b: number(a) and number(b) and np.all(b != 0)),
    "fmod": (lambda a, b: np.fmod(a, b), lambda a, b: number(a) and number(b) and np.all(b != 0)),
    "heaviside": (lambda a, b: np.heaviside(a, b), lambda a, b: number(a) and number(b)),
    "copysign": (lambda a, b: np.copysign(a, b), lambda a, b: number(a) and number(b)),
    "concatenate": (lambda a, b: np.concatenate([a, b], -1), lambda a, b: a.ndim > 0),
    "stack": (lambda a, b: np.stack([a, b], 1), lambda a, b: a.ndim > 0),
    "column_stack": (lambda a, b: np.column_stack([a, b]), lambda a, b: a.ndim in (1, 2)),
    "isin": (lambda a, b: np.isin(a, b), lambda a, b: a.dtype == b.dtype and real(a)),
    "searchsorted": (lambda a, b: np.searchsorted(np.sort(a, axis=None), b), lambda a, b: a.dtype == b.dtype and number(a)),
    "setdiff1d": (lambda a, b: np.setdiff1d(a, b), lambda a, b: a.dtype == b.dtype and number(a)),
    "inner": (lambda a, b: np.inner(a, b), lambda a, b: vector(a) and vector(b)),
    "outer": (lambda a, b: np.outer(a, b), lambda a, b: a.size * b.size < 200),
    "cross": (lambda a, b: np.cross(a, b), lambda a, b: number(a) and number(b) and a.ndim > 0 and b.ndim > 0 and
              a.shape[-1] == b.shape[-1] == 3),
}
REDUCTIONS = {
    "percentile 25 lower": lambda a, **kw: np.percentile(a, 25, method="lower", **kw),
    "quantile 0.7 higher": lambda a, **kw: np.quantile(a, 0.7, method="higher", **kw),
    "nanpercentile 60 nearest": lambda a, **kw: np.nanpercentile(a, 60, method="nearest", **kw),
    "quantile 0.5 inverted_cdf": lambda a, **kw: np.quantile(a, 0.5, method="inverted_cdf", **kw),
}
ONE_AXIS = ["nanargmin", "nanargmax"]
SIZED_LIKE = {  # writes to the first array: what of, where
    "copyto": (lambda t, a, m: np.copyto(t, a, where=m), "mask"),
    "putmask": (lambda t, a, m: np.putmask(t, m, a), "whole mask"),
    "place": (lambda t, a, m: np.place(t, m, a), "whole mask"),
    "put": (lambda t, a, i: np.put(t, i, a), "places"),
    "put_along_axis": (lambda t, a, i: np.put_along_axis(t, i, a, 0), "axis"),
    "fill_diagonal": (lambda t, a, i: np.fill_diagonal(t, a), "diagonal"),
}

INEXACT_UNARY = {
    "gradient": (lambda a: np.gradient(a, 0.3, axis=0), both(at_least(1), lambda a: a.shape[0] > 1)),
    "sinc": (lambda a: np.sinc(a), at_least(0)), "i0": (lambda a: np.i0(a), at_least(0)),
    "pad linear_ramp": (padded("linear_ramp"), at_least(1)), "pad mean": (padded("mean"), at_least(1)),
    "hanning": (lambda a: a * np.hanning(a.size), vector), "kaiser": (lambda a: a * np.kaiser(a.size, 5.0), vector),
    "hamming": (lambda a: a * np.hamming(a.size), vector), "blackman": (lambda a: a * np.blackman(a.size), vector),
    "bartlett": (lambda a: a * np.bartlett(a.size), vector),
    "unwrap radians": (lambda a: np.unwrap(a), at_least(1)),
    "softmax": (lambda a: scipy.special.softmax(a, -1), at_least(1)),
    "log_softmax": (lambda a: scipy.special.log_softmax(a, 0), at_least(1)),
    "logsumexp": (lambda a: scipy.special.logsumexp(a, -1), at_least(1)),
    "polyfit": (lambda a: np.polyfit(np.arange(a.size), a, 1), both(vector, lambda a: a.size > 3 and np.isfinite(a).all())),
    "cov": (lambda a: np.cov(a), both(matrix, lambda a: a.shape[1] > 1)),
    "logcumsumexp": (lambda a: np.logaddexp.accumulate(a, -1), at_least(1)),
}
INEXACT_BINARY = {
    "logaddexp2": (lambda a, b: np.logaddexp2(a, b), lambda a, b: True),
    "average": (lambda a, b: np.average(a, weights=b), lambda a, b: a.shape == b.shape and a.size > 0 and b.sum() != 0),
    "interp of": (lambda a, b: np.interp(a, np.arange(b.size), b), lambda a, b: vector(b)),
    "trapezoid of": (lambda a, b: np.trapezoid(a, b), lambda a, b: vector(b) and a.ndim > 0 and a.shape[-1] == b.size),
}
SPECIAL_BINARY = ["gammainc", "gammaincc", "xlogy", "xlog1py", "rel_entr", "kl_div", "beta", "betaln", "chdtr", "chdtrc", "pdtr",
                  "jv", "expn", "polygamma", "gammaincinv"]
SPECIAL_TERNARY = ["betainc", "betaincc", "bdtr", "nbdtr", "fdtr", "gdtr", "betaincinv"]
SPECIAL_PARAMETERS = ["special." + f for f in SPECIAL_BINARY + SPECIAL_TERNARY]

TABLES = (UNARY, BINARY, INEXACT_UNARY, INEXACT_BINARY)
EVERYDAY = [name for table in TABLES for name in table] + list(REDUCTIONS) + ONE_AXIS + list(SIZED_LIKE) + ["nanvar", "nanstd"] + \
    SPECIAL_PARAMETERS
COMPOSED = NAMES | {name: f for table in TABLES for name, (f, _) in table.items()}


def needs(name):
    """What the operands of a function must be."""
    return next(table[name][1] for table in TABLES if name in table)
