"""Builds one program: every instruction is executed by NumPy as it is chosen, so only valid ones are kept."""
import numpy as np

from bytecode import ALL_AXES, FLOATING, KEEPDIMS, LEFT, Machine, NO_DTYPE, Rejected, encode
from golden_format import random_key

INT_BINARY = ["add", "subtract", "multiply", "maximum", "minimum", "floor_divide", "remainder", "equal", "not_equal",
              "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor",
              "bitwise_and", "bitwise_or", "bitwise_xor", "fmax", "fmin", "divide", "add", "subtract", "multiply"]
INT_UNARY = ["negative", "absolute", "sign", "square", "floor", "ceil", "trunc", "rint", "logical_not", "invert",
             "isnan", "isfinite", "conjugate", "positive", "real", "imag"]
FLOAT_BINARY = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "hypot", "arctan2", "logaddexp", "less",
                "power", "fmax", "remainder", "floor_divide", "add", "multiply", "subtract"]
FLOAT_UNARY = ["negative", "absolute", "square", "sqrt", "exp", "log", "sin", "cos", "tan", "arcsin", "arccos",
               "arctan", "tanh", "expm1", "log1p", "cbrt", "reciprocal", "exp2", "cosh", "arcsinh", "floor", "rint", "sin", "exp"]
INPLACE = ["add", "subtract", "multiply", "add", "subtract", "bitwise_xor", "bitwise_and", "bitwise_or", "remainder",
           "divide", "left_shift", "right_shift"]
REDUCTIONS = ["sum", "prod", "min", "max", "argmin", "argmax", "any", "all", "count_nonzero", "mean", "sum", "max"]
FLOAT_REDUCTIONS = ["sum", "mean", "var", "std", "min", "max", "argmin", "argmax", "count_nonzero", "prod", "sum"]
ERRORS = (TypeError, ValueError, IndexError, OverflowError)


class Builder:
    def __init__(self, rng, exact, registers=12):
        self.rng, self.exact = rng, exact
        self.float_unary = FLOAT_UNARY
        self.machine = Machine(exact)
        self.code = bytearray()
        self.free = list(range(registers))[::-1]

    def emit(self, op, *args):
        self.machine.execute(op, args)
        self.code += encode(op, args)

    def attempt(self, op, *args, failing=0.0):
        """Emits unless NumPy or the exactness rule refuses; now and then records that it must be refused."""
        try:
            self.emit(op, *args)
            return True
        except Rejected:
            return False
        except ERRORS:
            if self.rng.random() < failing:
                self.code += encode("fails", ()) + encode(op, args)
            return False

    def new(self):
        if not self.free:
            raise Rejected
        return self.free.pop()

    def make(self, op, *args, failing=0.0):
        """An instruction whose first operand is a new register, which is returned, or None."""
        d = self.new()
        if self.attempt(op, d, *args, failing=failing):
            return d
        self.free.append(d)
        return None

    def drop(self, r):
        self.emit("drop", r)
        self.free.append(r)

    def live(self):
        return list(self.machine.regs)

    def pick(self, test=None):
        found = [r for r in self.live() if test is None or test(self.machine.regs[r])]
        return int(self.rng.choice(found)) if found else None

    def array(self, r):
        return self.machine.regs[r].a

    def code_of(self, r):
        return self.machine.regs[r].code

    def data(self, code, shape, lo=-5, span=11, flavour=0):
        if code in (0,):
            lo, span = 0, 2
        elif 5 <= code <= 8:
            lo = max(lo, 0)
        return self.make("data", code, shape, int(self.rng.integers(0, 1 << 20)), lo, span, flavour)

    def read(self, r):
        self.emit("read", r)

    def finish(self):
        regs = self.live()
        self.rng.shuffle(regs)
        for r in regs:
            self.read(int(r))


def random_shape(rng, limit=150):
    while True:
        rank = int(rng.choice([0, 1, 2, 3, 4], p=[.06, .3, .36, .2, .08]))
        extents = rng.choice([0, 1, 2, 3, 4, 5, 7, 9], rank, p=[.03, .12, .15, .2, .2, .12, .1, .08])
        shape = tuple(int(n) for n in extents)
        if np.prod(shape, dtype=int) <= limit:
            return shape


def shuffled_shape(rng, size):
    """A random shape of the same number of elements."""
    shape, rest = [], size
    if size == 0:
        return (0,)
    while rest > 1 and len(shape) < 4:
        divisors = [d for d in range(1, rest + 1) if rest % d == 0]
        d = int(rng.choice(divisors))
        shape.append(d)
        rest //= d
    if rest > 1:
        shape.append(rest)
    rng.shuffle(shape)
    return tuple(int(d) for d in shape)


def partner(b, r):
    """Another register that broadcasts with `r`."""
    def fits(v):
        try:
            np.broadcast_shapes(v.a.shape, b.array(r).shape)
            return True
        except ValueError:
            return False
    return b.pick(fits)


def step_view(b):
    rng, s = b.rng, b.pick()
    a = b.array(s)
    kind = rng.integers(0, 8)
    if kind <= 2:
        return b.make("view", s, random_key(rng, a.shape))
    if kind == 3 and a.ndim > 1:
        return b.make("transpose", s, [int(i) for i in rng.permutation(a.ndim)])
    if kind == 4:
        return b.make("reshape", s, shuffled_shape(rng, a.size), failing=1)
    if kind == 5 and a.ndim:
        axes = [int(i) for i in rng.permutation(a.ndim)[:rng.integers(1, a.ndim + 1)]]
        return b.make("flip", s, axes)
    if kind == 6:
        if rng.random() < 0.5:
            return b.make("expand_dims", s, int(rng.integers(-a.ndim - 1, a.ndim + 1)))
        return b.make("squeeze", s)
    shape = tuple(int(rng.integers(1, 4)) if n == 1 else n for n in a.shape)
    if np.prod(shape, dtype=int) <= 300:
        return b.make("broadcast_to", s, ((int(rng.integers(1, 3)),) if rng.random() < 0.3 else ()) + shape)
    return None


def weak_operand(b):
    if b.exact:
        x = int(b.rng.integers(-3, 5))
        return (FLOATING if b.rng.random() < 0.15 else 0), float(x)
    return FLOATING, float(np.round(b.rng.normal() * 2, 2))


def step_compute(b):
    rng, s = b.rng, b.pick()
    kind = rng.integers(0, 10)
    binary, unary = (INT_BINARY, INT_UNARY) if b.exact else (FLOAT_BINARY, b.float_unary)
    if kind <= 3:
        return b.make("binary", str(rng.choice(binary)), s, partner(b, s), failing=0.3)
    if kind <= 5:
        return b.make("unary", str(rng.choice(unary)), s, failing=0.3)
    if kind == 6:
        flags, x = weak_operand(b)
        return b.make("weak", str(rng.choice(binary)), s, flags | (LEFT if rng.random() < 0.4 else 0), x, failing=0.3)
    if kind == 7:
        c = partner(b, s)
        t = partner(b, s)
        return b.make("where", c, s, t, failing=0.3)
    if kind == 8 and b.exact:
        lo = int(rng.integers(-4, 3))
        if b.array(s).dtype.kind in "if":
            return b.make("clip", s, lo, lo + int(rng.integers(0, 6)))
    if kind == 9 or not b.exact:
        targets = list(range(15)) if b.exact else [9, 10, 11, 12, 12, 11]
        return b.make("astype", s, int(rng.choice(targets)))
    return b.make("copy", s)


def step_write(b):
    """Writes: the whole array, a region of it, with an array or a number."""
    rng = b.rng
    t = b.pick(lambda v: v.a.flags.writeable)
    if t is None:
        return
    a = b.array(t)
    f = str(rng.choice(INPLACE if b.exact else ["add", "subtract", "multiply", "divide"]))
    flags, x = weak_operand(b)
    kind = rng.integers(0, 6)
    if kind == 0:
        b.attempt("iop", t, f, b.pick(), failing=0.3)
    elif kind == 1:
        b.attempt("iweak", t, f, flags, x, failing=0.3)
    else:
        key = random_key(rng, a.shape)
        region = a[tuple(key) if Ellipsis in key else tuple(key) + (Ellipsis,)]
        s = b.pick(lambda v: fits_into(v.a.shape, region.shape))
        if kind == 2 and s is not None:
            b.attempt("set", t, key, s)
        elif kind == 3 and s is not None:
            b.attempt("iset", t, key, f, s, failing=0.3)
        elif kind == 4:
            b.attempt("set_weak", t, key, flags, x, failing=0.3)
        else:
            b.attempt("iset_weak", t, key, f, flags, x, failing=0.3)


def fits_into(shape, target):
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False


def step_overlap(b):
    """Right sides that read what is being written: shifts, reversals, the array's own transpose."""
    rng = b.rng
    t = b.pick(lambda v: v.a.flags.writeable and v.a.ndim > 0 and v.a.size > 1)
    if t is None:
        return
    a = b.array(t)
    kind = rng.integers(0, 4)
    if kind == 0 and a.ndim == 2 and a.shape[0] == a.shape[1]:
        v = b.make("transpose", t, [1, 0])
        b.attempt("iop", t, str(rng.choice(["add", "subtract"])), v)
    elif kind == 1:
        axis = int(rng.integers(0, a.ndim))
        v = b.make("flip", t, [axis])
        if rng.random() < 0.6:
            b.attempt("set", t, [], v)
        else:
            b.attempt("iset", t, [], "subtract", v)
    else:
        n = a.shape[0]
        if n < 2:
            return
        k = int(rng.integers(1, n))
        ahead, behind = slice(k, None), slice(None, n - k)
        if rng.random() < 0.5:
            ahead, behind = behind, ahead
        v = b.make("view", t, [behind])
        if rng.random() < 0.6:
            b.attempt("set", t, [ahead], v)
        else:
            b.attempt("iset", t, [ahead], str(rng.choice(["add", "subtract", "multiply"])), v)


def step_reduce(b):
    rng, s = b.rng, b.pick()
    a = b.array(s)
    f = str(rng.choice(REDUCTIONS if b.exact else FLOAT_REDUCTIONS))
    flags = KEEPDIMS if rng.random() < 0.4 else 0
    axes = []
    if rng.random() < 0.3 or a.ndim == 0:
        flags |= ALL_AXES
    else:
        axes = [int(i) for i in rng.permutation(a.ndim)[:rng.integers(1, a.ndim + 1)]]
        if f in ("argmin", "argmax"):
            axes = axes[:1]
        axes = [i - a.ndim if rng.random() < 0.3 else i for i in axes]
    t = NO_DTYPE
    if f in ("sum", "prod") and b.exact and rng.random() < 0.2 and a.dtype.kind in "biu":
        t = int(rng.choice([4, 12, 11, 2]))
    return b.make("reduce", f, s, axes, flags, t, failing=0.5)


def step_gather(b):
    rng = b.rng
    s = b.pick(lambda v: v.a.ndim > 0 and v.a.size > 0)
    if s is None:
        return
    a = b.array(s)
    axis = int(rng.integers(0, a.ndim))
    kind = rng.integers(0, 3)
    if kind == 0 and a.dtype.kind != "c":
        i = b.make("reduce", str(rng.choice(["argmin", "argmax"])), s, [axis], KEEPDIMS, NO_DTYPE)
    else:
        n = a.shape[axis]
        count = int(rng.integers(0, 5))
        shape = tuple(count if k == axis else n_k for k, n_k in enumerate(a.shape)) if kind == 1 else (count,)
        i = b.make("data", 4, shape, int(rng.integers(0, 1 << 20)), -n, 2 * n, 0)
    if i is not None:
        b.make("take" if kind == 2 else "take_along_axis", s, i, axis)


def step_evaluate(b):
    rng = b.rng
    kind = rng.integers(0, 5)
    regs = b.live()
    if kind <= 1:
        rng.shuffle(regs)
        b.emit("eval", [int(r) for r in regs[:rng.integers(1, 4)]])
    elif kind == 2:
        b.read(int(rng.choice(regs)))
    elif kind == 3 and len(regs) > 2:
        b.drop(int(rng.choice(regs)))
    elif rng.random() < 0.3:
        b.emit("pin", int(rng.choice(regs)))
    else:
        b.make("alias", int(rng.choice(regs)))


STEPS = [(step_view, .2), (step_compute, .34), (step_write, .16), (step_overlap, .07), (step_reduce, .1),
         (step_gather, .04), (step_evaluate, .09)]


def random_program(b, length=None):
    rng = b.rng
    shape = random_shape(rng)
    # Few dtypes in one program, so that operands meet others of their kind.
    codes = [int(c) for c in rng.choice(15 if b.exact else [9, 10, 11, 12, 11, 12, 13, 14], int(rng.integers(1, 4)))]
    flavour = 0 if b.exact else int(rng.choice([1, 1, 2]))
    for _ in range(int(rng.integers(2, 4))):
        near = tuple(1 if rng.random() < 0.15 else n for n in shape)
        far = shuffled_shape(rng, int(np.prod(shape, dtype=int)))
        b.data(int(rng.choice(codes)), near if rng.random() < 0.8 else far, flavour=flavour)
    if rng.random() < 0.2:
        b.make("full", int(rng.choice(codes)), shape, int(rng.integers(0, 2)))
    if rng.random() < 0.2:
        b.make("arange", int(rng.choice(codes)), 0, int(rng.integers(1, 12)), 1)
    steps, weights = zip(*STEPS)
    for _ in range(length or int(rng.integers(5, 17))):
        while len(b.free) < 3:
            b.drop(b.pick())
        steps[int(rng.choice(len(steps), p=weights))](b)
    b.finish()
