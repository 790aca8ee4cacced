"""Programs with the functions that are composed of others: borders, orders, divisors, medians, masked calls, complex parts."""
from selections import step_pick

from builder import random_shape, step_compute, step_evaluate, step_overlap, step_view, step_write
from bytecode import ALL_AXES, BF16, IMAGINARY_PART, KEEPDIMS, NO_DTYPE, REAL_PART

UNARY = ["isposinf", "isneginf", "isreal", "iscomplex", "bitwise_count", "nan_to_num", "ravel F", "sort all", "frexp mantissa",
         "frexp exponent", "modf whole", "ediff1d", "pad edge", "pad wrap", "tril", "rot90", "trim_zeros", "ravel F", "pad edge"]
EXACT_UNARY = UNARY + ["cumsum all"]
BINARY = ["gcd", "lcm", "append", "ldexp", "gcd", "append"]
REDUCTIONS = ["nansum", "nanprod", "nanmin", "nanmax", "nanmean", "ptp", "median", "nanmedian"]
MASKED = ["add", "multiply", "maximum", "subtract", "equal", "gcd"]


def plain(v):
    return v.code != BF16


def step_unary(b):
    f = str(b.rng.choice(EXACT_UNARY if b.exact else UNARY))
    s = b.pick(lambda v: plain(v) and (v.a.ndim >= 2 or f not in ("tril", "rot90")) and (v.a.ndim == 1 or f != "trim_zeros") and
               (v.a.size > 0 or not f.startswith("pad")) and v.a.size < 400)
    if s is not None and not (f in ("sort all",) and b.array(s).dtype.kind == "c"):
        b.make("unary", f, s)


def step_binary(b):
    f = str(b.rng.choice(BINARY))
    whole = (lambda v: v.a.dtype.kind in "iu") if f in ("gcd", "lcm") else plain
    s = b.pick(whole)
    t = b.pick((lambda v: v.a.dtype.kind in "iu" and v.a.itemsize < 8) if f == "ldexp" else whole)
    if s is not None and t is not None and (f != "ldexp" or b.array(s).dtype.kind == "f"):
        b.make("binary", f, s, t)


def step_reduce(b):
    f = str(b.rng.choice(REDUCTIONS))
    s = b.pick(lambda v: plain(v) and v.a.size > 0 and v.a.dtype.kind in ("iuf" if f != "nansum" else "iufc"))
    if s is None:
        return
    a = b.array(s)
    flags = KEEPDIMS if b.rng.random() < 0.4 else 0
    if a.ndim == 0 or b.rng.random() < 0.3:
        b.make("reduce", f, s, [], flags | ALL_AXES, NO_DTYPE)
    else:
        axes = [int(i) for i in b.rng.permutation(a.ndim)[:b.rng.integers(1, a.ndim + 1)]]
        b.make("reduce", f, s, axes, flags, NO_DTYPE)


def step_masked(b):
    s, t = b.pick(plain), b.pick(plain)
    m = b.pick(lambda v: v.a.dtype.kind == "b")
    if m is None:
        m = b.make("weak", "less", s, 0, 2.0) if b.array(s).dtype.kind != "c" else None
    if m is not None:
        b.make("masked", str(b.rng.choice(MASKED)), s, t, m)


def step_part(b):
    t = b.pick(lambda v: v.a.dtype.kind == "c" and v.a.flags.writeable)
    s = b.pick(lambda v: v.a.dtype.kind != "c")
    if t is not None and s is not None:
        b.attempt("set_part", t, s, int(b.rng.choice([REAL_PART, IMAGINARY_PART])))


STEPS = [(step_unary, .22), (step_binary, .12), (step_reduce, .12), (step_masked, .1), (step_part, .14), (step_view, .08),
         (step_compute, .06), (step_write, .06), (step_overlap, .04), (step_evaluate, .06)]


def step_view_of_part(b):
    s = b.pick(lambda v: v.a.dtype.kind == "c")
    if s is not None:
        b.make("part", s, int(b.rng.choice([REAL_PART, IMAGINARY_PART])))


def step_pin(b):
    b.emit("pin", b.pick())


PART_STEPS = [(step_view_of_part, .26), (step_write, .2), (step_pick, .14), (step_view, .12), (step_part, .06), (step_compute, .08),
              (step_overlap, .06), (step_evaluate, .06), (step_pin, .02)]


def parts(b):
    """Views of complex parts, which are written in every way."""
    rng = b.rng
    shape = random_shape(rng, 60)
    for code in [13, 14, int(rng.choice([4, 7, 11, 12]))]:
        b.data(code, shape, flavour=0 if b.exact else 1)
    steps, weights = zip(*PART_STEPS)
    for _ in range(int(rng.integers(7, 18))):
        while len(b.free) < 8:
            b.drop(b.pick())
        steps[int(rng.choice(len(steps), p=weights))](b)
    b.finish()


def names(b):
    rng = b.rng
    shape = random_shape(rng, 60)
    codes = [int(c) for c in rng.choice([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14] if b.exact else [9, 11, 12, 13, 14], 2)]
    flavour = 0 if b.exact else int(rng.choice([1, 2]))
    for code in codes + [4, int(rng.choice([13, 14]))]:
        b.data(code, shape, flavour=0 if code == 4 else flavour)
    steps, weights = zip(*STEPS)
    for _ in range(int(rng.integers(5, 14))):
        while len(b.free) < 4:
            b.drop(b.pick())
        steps[int(rng.choice(len(steps), p=weights))](b)
    b.finish()
