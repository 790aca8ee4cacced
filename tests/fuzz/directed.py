"""Programs that aim at one hazard each, with random details."""
import numpy as np

from builder import INT_BINARY, random_program, random_shape
from bytecode import ALL_AXES, FLOATING, KEEPDIMS, LEFT, NO_DTYPE, SPECIAL

INT64, FLOAT32, FLOAT64 = 4, 11, 12
ALL = slice(None)


def pending(b, code, shape, **kw):
    """An array that nothing has evaluated yet, or one in memory."""
    x = b.data(code, shape, **kw)
    if b.rng.random() < 0.7:
        y = b.make("weak", "add", x, 0, 1.0)
        if y is not None:
            b.drop(x)
            x = y
    return x


def number_code(b):
    return int(b.rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]))


def views_and_writes(b):
    """x pending; v = x(slice), w = reshape(x), r = v * 2 recorded; writes through v and w's transpose; random reads."""
    rng = b.rng
    n, m = int(rng.integers(2, 6)), int(rng.integers(2, 6))
    x = pending(b, number_code(b), (n, m))
    v = b.make("view", x, [slice(int(rng.integers(0, n)), None)])
    w = b.make("reshape", x, (m, n))
    r = b.make("weak", "multiply", v, 0, 2.0)
    wt = b.make("transpose", w, [1, 0])
    actions = [lambda: b.attempt("iweak", v, "add", 0, 3.0), lambda: b.attempt("set_weak", wt, [0], 0, 1.0),
               lambda: b.attempt("iset_weak", wt, [ALL, -1], "subtract", 0, 1.0), lambda: b.read(r), lambda: b.read(x),
               lambda: b.read(w), lambda: b.attempt("iop", x, "add", x), lambda: b.attempt("set", v, [0], v)]
    for i in rng.permutation(len(actions))[:int(rng.integers(3, 8))]:
        actions[i]()
    b.finish()


def self_overlap(b):
    """x += x.T(), x(1:) = x(:-1), x(::-1) = x, pending and in memory."""
    rng = b.rng
    n = int(rng.integers(1, 8))
    x = pending(b, number_code(b), (n, n))
    if rng.random() < 0.4:
        b.emit("eval", [x])
    held = b.make("alias", x) if rng.random() < 0.5 else b.make("weak", "multiply", x, 0, 2.0)
    for _ in range(int(rng.integers(1, 4))):
        kind = rng.integers(0, 5)
        if kind == 0:
            t = b.make("transpose", x, [1, 0])
            b.attempt("iop", x, "add", t)
            b.drop(t)
        elif kind == 1 and n > 1:
            b.attempt("set", x, [slice(1, None)], b.make("view", x, [slice(None, -1)]))
        elif kind == 2:
            b.attempt("set", x, [slice(None, None, -1)], x)
        elif kind == 3 and n > 1:
            b.attempt("set", x, [ALL, slice(None, -1)], b.make("view", x, [ALL, slice(1, None)]))
        else:
            row = b.make("view", x, [int(rng.integers(0, n))])
            b.attempt("iop", x, "subtract", row)
    if held is not None and rng.random() < 0.5:
        b.read(held)
    b.finish()


def stencil(b):
    """Four boundary writes and a stencil in wrapping integers, an old view held now and then; kernels are bounded."""
    rng = b.rng
    n, m, steps = int(rng.integers(5, 9)), int(rng.integers(5, 9)), 50
    u = b.data(INT64, (n, m))
    b.emit("eval", [u])
    b.emit("mark")
    held = None
    inner = [slice(1, -1), slice(1, -1)]
    for step in range(steps):
        b.emit("set_weak", u, [0], 0, float(step % 5))
        b.emit("set_weak", u, [-1], 0, 1.0)
        b.emit("set_weak", u, [ALL, 0], 0, 2.0)
        b.emit("set_weak", u, [ALL, -1], 0, float(step % 3))
        up, down = b.make("view", u, [slice(2, None), slice(1, -1)]), b.make("view", u, [slice(None, -2), slice(1, -1)])
        left = b.make("view", u, [slice(1, -1), slice(2, None)])
        right = b.make("view", u, [slice(1, -1), slice(None, -2)])
        s1, s2 = b.make("binary", "add", up, down), b.make("binary", "add", left, right)
        s = b.make("binary", "subtract", s1, s2)
        b.emit("set", u, inner, s)
        for r in (up, down, left, right, s1, s2, s):
            b.drop(r)
        if held is None and rng.random() < 0.05:
            held = b.make("view", u, [slice(0, 2)])
        elif held is not None and rng.random() < 0.2:
            b.drop(held)
            held = None
    b.read(u)
    b.emit("launches", 6 * steps)
    b.emit("held", 64 * n * m * 8 + (1 << 20))
    b.finish()


def tower(b):
    """u = f(u(1:)) + g(u(:-1)) through distinct nodes: expanded, 30 levels would be 2^30 operations."""
    rng = b.rng
    levels = 30
    u = b.data(INT64 if b.exact else FLOAT64, (levels + int(rng.integers(2, 20)),), flavour=0 if b.exact else 1)
    b.emit("mark")
    for _ in range(levels):
        a, c = b.make("view", u, [slice(1, None)]), b.make("view", u, [slice(None, -1)])
        if b.exact:
            f, g = b.make("weak", "multiply", a, 0, 3.0), b.make("weak", "bitwise_xor", c, 0, 5.0)
        else:
            f, g = b.make("unary", "sin", a), b.make("unary", "cos", c)
        v = b.make("binary", "add", f, g)
        for r in (u, a, c, f, g):
            b.drop(r)
        u = v
    b.read(u)
    b.emit("launches", 4 * levels)
    b.finish()


def sums_then_writes(b):
    """s = sum(x), m = mean(x, 0) recorded, then partial writes to x, then x -= m; s read after the handles died."""
    rng = b.rng
    n, m = int(rng.choice([1, 2, 4, 8])), int(rng.integers(1, 7))
    code = int(rng.choice([9, 10, 11, 12, 13, 14]))
    if b.exact:
        # Multiples of the row count, so that the means are whole numbers.
        x0 = b.data(code, (n, m), lo=-3, span=7)
        x = b.make("weak", "multiply", x0, 0, float(n))
        if x is None:
            return b.finish()
        b.drop(x0)
    else:
        x = pending(b, code, (n, m), flavour=1)
    s = b.make("reduce", "sum", x, [], ALL_AXES, NO_DTYPE)
    mean = b.make("reduce", "mean", x, [0], KEEPDIMS if rng.random() < 0.5 else 0, NO_DTYPE)
    for _ in range(int(rng.integers(1, 4))):
        b.attempt("iset_weak", x, [int(rng.integers(0, n))], "add", 0, float(n))
        b.attempt("set_weak", x, [ALL, int(rng.integers(0, m))], 0, 0.0)
    if mean is not None:
        b.attempt("iop", x, "subtract", mean)
        b.drop(mean)
    if rng.random() < 0.5:
        b.read(x)
    b.drop(x)
    b.finish()


def nearest(b):
    """t = f(a(:, None), b): min, argmin and take_along_axis in every order, t kept or dropped; d equals min(t)."""
    rng = b.rng
    n, m = int(rng.integers(1, 9)), int(rng.choice([1, 3, 17, 70, 257]))
    code = int(rng.choice([1, 2, 3, 4, 9, 11, 12] if b.exact else [9, 10, 11, 12, 11]))
    a, c = b.data(code, (n, 1), flavour=0 if b.exact else 1), b.data(code, (m,), flavour=0 if b.exact else 1)
    t = b.make("binary", "subtract", a, c)
    for f in rng.choice(["square", "absolute", "negative"] if b.exact else ["square", "sin", "absolute", "exp"],
                        int(rng.integers(1, 4))):
        u = b.make("unary", str(f), t)
        if u is not None:
            b.drop(t)
            t = u
    which = str(rng.choice(["min", "max"]))
    made = {}

    def least():
        made["m"] = b.make("reduce", which, t, [1], KEEPDIMS, NO_DTYPE)

    def where():
        made["i"] = b.make("reduce", "arg" + which, t, [1], KEEPDIMS, NO_DTYPE)

    for action in rng.permutation([0, 1]):
        (least, where)[action]()
        if rng.random() < 0.3:
            b.emit("eval", [made["m" if action == 0 else "i"]])
    if rng.random() < 0.2:
        b.emit("eval", [t])
    d = b.make("take_along_axis", t, made["i"], 1)
    if rng.random() < 0.5:
        b.drop(t)
    if rng.random() < 0.5:
        b.read(made["i"])
    same = b.make("binary", "equal", d, made["m"])
    if np.all(b.array(same)):
        b.emit("true", same)
    b.finish()


def tails(b):
    """min, max and their indices of m * arcsin(sqrt(h)) with ties, NaN, values out of the domain and any multiplier."""
    rng = b.rng
    n, m = int(rng.choice([1, 2, 5])), int(rng.choice([1, 7, 64, 333, 3000, 9000]))
    code = int(rng.choice([FLOAT32, FLOAT32, FLOAT64, 9]))
    h = b.data(code, (n, m), lo=0 if rng.random() < 0.6 else -1, span=int(rng.choice([1, 1, 2])),
               flavour=int(rng.choice([1, 1, 2])))
    if rng.random() < 0.4:
        q = b.make("weak", "multiply", h, FLOATING, 16.0)
        q2 = b.make("unary", "rint", q)
        h2 = b.make("weak", "divide", q2, FLOATING, 16.0)
        for r in (h, q, q2):
            b.drop(r)
        h = h2
    t = h
    for f in [["sqrt", "arcsin"], ["sqrt"], ["arccos"], ["square", "sqrt", "arcsin"], ["exp"]][int(rng.integers(0, 5))]:
        t = b.make("unary", f, t)
    if rng.random() < 0.8:
        x = float(rng.choice([2.0, 12742.0, -1.5, 0.0, -0.0, np.nan, 1e30, 1e-30]))
        t = b.make("weak", "multiply", t, FLOATING | (LEFT if rng.random() < 0.5 else 0), x)
    for f in rng.permutation(["min", "max", "argmin", "argmax"])[:int(rng.integers(1, 5))]:
        axes, flags = ([1], 0) if rng.random() < 0.7 else ([], ALL_AXES)
        b.make("reduce", str(f), t, axes, flags, NO_DTYPE)
    for r in b.live():
        if b.array(r).size > 100 and r != t:
            b.drop(r)
    if rng.random() < 0.5:
        b.drop(t)
    b.finish()


def ties(b):
    """Exact reductions with many ties and winners in any chunk."""
    rng = b.rng
    shape = [(int(rng.choice([1, 63, 64, 65, 1000, 5000])),), (3, int(rng.choice([1, 64, 700]))),
             (int(rng.choice([64, 700])), 3)][int(rng.integers(0, 3))]
    x = b.data(number_code(b), shape, lo=0, span=int(rng.choice([1, 2, 4])))
    if rng.random() < 0.5:
        at = [int(rng.integers(0, n)) for n in shape]
        b.attempt("set_weak", x, at, 0, float(rng.choice([0, 9])))
    if rng.random() < 0.3:
        y = b.make("flip", x, [0])
        b.drop(x)
        x = y
    for f in rng.permutation(["min", "max", "argmin", "argmax", "any", "all", "count_nonzero", "sum"])[:4]:
        axes, flags = ([int(rng.integers(0, len(shape)))], 0) if rng.random() < 0.6 else ([], ALL_AXES)
        b.make("reduce", str(f), x, axes, flags, NO_DTYPE)
    b.drop(x)
    b.finish()


def odd_operands(b):
    """Zero-size, 0-d, zero-stride, negative-stride and misaligned operands; in-place casts."""
    rng = b.rng
    code = number_code(b)
    base = pending(b, code, (int(rng.integers(2, 40)),))
    n = b.array(base).shape[0]
    keys = [slice(int(rng.integers(0, n + 1)), None), slice(None, None, -1), int(rng.integers(0, n)), slice(0, 0)]
    parts = [b.make("view", base, [key]) for key in keys]
    one = b.make("view", base, [slice(0, 1)])
    parts.append(b.make("broadcast_to", one, (int(rng.integers(1, 30)),)))
    parts.append(b.make("reshape", b.make("view", base, [slice(n % 2, None)]), (2, -1)))
    for _ in range(int(rng.integers(2, 6))):
        p = int(rng.choice([r for r in parts if r is not None and r in b.machine.regs]))
        kind = rng.integers(0, 5)
        if kind == 0:
            b.make("binary", str(rng.choice(INT_BINARY)), p, p, failing=0.3)
        elif kind == 1:
            b.attempt("iweak", p, str(rng.choice(["add", "multiply", "subtract"])), 0, float(rng.integers(0, 4)))
        elif kind == 2:
            other = b.data(int(rng.integers(0, 15)), b.array(p).shape)
            if other is not None:
                b.attempt("iop", p, str(rng.choice(["add", "subtract", "multiply"])), other, failing=0.5)
                b.drop(other)
        elif kind == 3:
            f = str(rng.choice(["sum", "min", "any", "count_nonzero"]))
            b.make("reduce", f, p, [], ALL_AXES, NO_DTYPE, failing=0.5)
        else:
            b.make("weak", str(rng.choice(INT_BINARY)), p, 0, float(rng.integers(-2, 4)), failing=0.3)
        if len(b.free) < 2:
            break
    b.finish()


def broadcast_pairs(b):
    """Elementwise operations over every mixture of broadcast axes, then one reduction."""
    rng = b.rng
    shape = random_shape(rng, 200)
    code = number_code(b) if b.exact else FLOAT32
    operands = [b.data(code, tuple(1 if rng.random() < 0.4 else n for n in shape), flavour=0 if b.exact else 1)
                for _ in range(3)]
    t = operands[0]
    for o in operands[1:]:
        u = b.make("binary", str(rng.choice(["add", "subtract", "multiply", "maximum"])), t, o)
        t = u if u is not None else t
    if b.array(t).ndim:
        b.make("reduce", "sum" if b.array(t).size == 0 else str(rng.choice(["sum", "max", "min"])), t,
               [int(rng.integers(0, b.array(t).ndim))], 0, NO_DTYPE, failing=1)
    b.finish()


def large(b):
    """Sizes that are split over chunks and threads: a short chain, reductions along every axis, points of the result."""
    rng = b.rng
    n = int(rng.choice([5000, 20011, 70000, 140001]))
    k = int(rng.choice([1, 2, 3, 7, 16, 65]))
    shape = [(n,), (k, n // k), (n // k, k), (3, n // (3 * k), k)][int(rng.integers(0, 4))]
    code = int(rng.choice([0, 1, 3, 4, 5, 8, 11, 12, 13] if b.exact else [9, 11, 11, 12, 13]))
    x = b.data(code, shape, lo=-4, span=8, flavour=0 if b.exact else 1)
    kind = int(rng.integers(0, 4))
    if kind == 1:
        x = b.make("transpose", x, [int(i) for i in rng.permutation(len(shape))])
    elif kind == 2:
        x = b.make("view", x, [slice(None, None, int(rng.choice([-1, 2, -3])))])
    elif kind == 3:
        x = b.make("flip", x, [int(rng.integers(0, len(shape)))])
    t = x
    if rng.random() < 0.7:
        y = b.data(code, tuple(1 if rng.random() < 0.5 else d for d in b.array(x).shape), lo=-4, span=8,
                   flavour=0 if b.exact else 1)
        made = b.make("binary", str(rng.choice(["add", "subtract", "maximum"])), x, y)
        t = x if made is None else made
    if not b.exact and code < 13 and rng.random() < 0.6:
        t = b.make("unary", str(rng.choice(["sin", "exp", "sqrt", "arctan"])), t)
    if rng.random() < 0.3:
        b.attempt("iset_weak", x, [slice(1, None, 2)], "add", 0, 1.0)
    names = ["sum", "min", "max", "argmin", "argmax", "any", "all", "count_nonzero", "mean"]
    rank = b.array(t).ndim
    for f in rng.permutation(names if b.exact else names + ["var", "std"])[:int(rng.integers(2, 5))]:
        axes, flags = ([int(rng.integers(0, rank))], 0) if rng.random() < 0.6 else ([], ALL_AXES)
        if not axes or b.array(t).size // b.array(t).shape[axes[0]] <= 9000:
            b.make("reduce", str(f), t, axes, flags, NO_DTYPE)
    point = b.make("view", t, [int(rng.integers(-3, 3))] + [slice(None, 5)] * (rank - 1))
    if point is not None:
        b.read(point)
        b.drop(point)
    for r in b.live():
        if b.array(r).size > 9000:
            b.drop(r)
    b.finish()


def special(b):
    """Random programs with special functions of one argument, whose float32 is computed in float64."""
    b.float_unary = SPECIAL
    random_program(b)
