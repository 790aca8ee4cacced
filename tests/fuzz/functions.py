"""Programs with the functions that NumPy programs reach for: statistics, samples, borders, polynomials, sets, parameters."""
import numpy as np

from builder import random_shape, step_compute, step_evaluate, step_overlap, step_view, step_write
from bytecode import ALL_AXES, BF16, KEEPDIMS, NO_DTYPE
from composed import BINARY, INEXACT_BINARY, INEXACT_UNARY, ONE_AXIS, REDUCTIONS, SIZED_LIKE, SPECIAL_BINARY, SPECIAL_TERNARY, \
    UNARY, needs


def small(v):
    return v.code != BF16 and v.a.size < 400


def floats(v):
    return small(v) and v.a.dtype.kind == "f" and v.a.itemsize >= 4


def step_unary(b):
    names = list(UNARY) if b.exact or b.rng.random() < 0.4 else list(INEXACT_UNARY)
    f = str(b.rng.choice(names))
    kind = floats if f in INEXACT_UNARY else small
    s = b.pick(lambda v: kind(v) and needs(f)(v.a))
    if s is not None:
        b.make("unary", f, s)


def step_binary(b):
    names = list(BINARY) if b.exact or b.rng.random() < 0.4 else list(INEXACT_BINARY)
    f = str(b.rng.choice(names))
    kind = floats if f in INEXACT_BINARY else small
    s = b.pick(kind)
    if s is None:
        return
    t = b.pick(lambda v: kind(v) and needs(f)(b.array(s), v.a))
    if t is not None:
        b.make("binary", f, s, t)


def step_reduce(b):
    names = list(REDUCTIONS) + ONE_AXIS + ([] if b.exact else ["nanvar", "nanstd"])
    f = str(b.rng.choice(names))
    s = b.pick(lambda v: small(v) and v.a.size > 0 and v.a.dtype.kind in ("iuf" if b.exact else "f"))
    if s is None:
        return
    a = b.array(s)
    flags = KEEPDIMS if b.rng.random() < 0.4 else 0
    if a.ndim == 0 or b.rng.random() < 0.3:
        b.make("reduce", f, s, [], flags | ALL_AXES, NO_DTYPE)
    else:
        axes = [int(i) for i in b.rng.permutation(a.ndim)[:1 if f in ONE_AXIS else b.rng.integers(1, a.ndim + 1)]]
        b.make("reduce", f, s, axes, flags, NO_DTYPE)


def places(b, t, kind):
    """A register with where to write, and what the written array must be."""
    a = b.array(t)
    seed = int(b.rng.integers(0, 1 << 20))
    if kind == "places":
        return b.make("data", 4, (int(b.rng.integers(0, 6)),), seed, -a.size, 2 * a.size, 0), lambda v: v.a.size > 0
    if kind == "axis":
        shape = (int(b.rng.integers(1, 4)),) + a.shape[1:]
        return b.make("data", 4, shape, seed, -a.shape[0], 2 * a.shape[0], 0), lambda v: v.a.shape in ((), shape)
    if kind == "diagonal":
        return t, lambda v: v.a.size > 0 and v.a.ndim < 2
    m = b.make("data", 0, a.shape, seed, 0, 2, 0)

    def fits(v):
        try:
            return np.broadcast_shapes(v.a.shape, a.shape) == a.shape
        except ValueError:
            return False
    return m, fits if kind == "mask" else lambda v: v.a.size > 0


def step_stored(b):
    f = str(b.rng.choice(list(SIZED_LIKE)))
    kind = SIZED_LIKE[f][1]
    t = b.pick(lambda v: small(v) and v.a.flags.writeable and v.a.size > 0 and v.a.ndim >= (2 if kind == "diagonal" else 1))
    if t is None or (kind == "diagonal" and b.array(t).ndim > 2 and len(set(b.array(t).shape)) > 1):
        return
    m, fits = places(b, t, kind)
    s = b.pick(lambda v: v.code == b.code_of(t) and fits(v))
    if m is not None and s is not None:
        b.attempt("stored", t, f, s, m)
    if m is not None and m != t:
        b.drop(m)


def step_special(b):
    """Of numbers of one shape: parameters of distributions are checked by values elsewhere."""
    s = b.pick(floats)
    if s is None:
        return
    t = b.pick(lambda v: floats(v) and v.a.shape == b.array(s).shape)
    if b.rng.random() < 0.7:
        b.make("binary", "special." + str(b.rng.choice(SPECIAL_BINARY)), s, t)
    else:
        u = b.make("unary", "special.expit", s)
        b.make("ternary", "special." + str(b.rng.choice(SPECIAL_TERNARY)), s, t, u)
        b.drop(u)


EXACT = [(step_unary, .36), (step_binary, .16), (step_reduce, .1), (step_stored, .14), (step_view, .06), (step_compute, .06),
         (step_write, .05), (step_overlap, .03), (step_evaluate, .04)]
INEXACT = [(step_unary, .3), (step_binary, .14), (step_reduce, .1), (step_special, .16), (step_stored, .1), (step_view, .06),
           (step_compute, .06), (step_write, .04), (step_evaluate, .04)]


def functions(b):
    rng = b.rng
    shape = (int(rng.integers(1, 12)),) if rng.random() < 0.4 else random_shape(rng, 60)
    codes = [int(c) for c in rng.choice([0, 1, 3, 4, 4, 5, 7, 9, 11, 12, 14] if b.exact else [11, 12], 2)]
    flavour = 0 if b.exact else int(rng.choice([1, 1, 2]))
    for code in codes + [codes[0], 4 if b.exact else 11]:
        b.data(code, shape, flavour=0 if code == 4 else flavour)
    steps, weights = zip(*(EXACT if b.exact else INEXACT))
    for _ in range(int(rng.integers(5, 14))):
        while len(b.free) < 5:
            b.drop(b.pick())
        steps[int(rng.choice(len(steps), p=weights))](b)
    b.finish()
